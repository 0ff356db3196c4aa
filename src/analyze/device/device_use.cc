#include "analyze/device/device_use.h"

#include <algorithm>
#include <limits>

#include "analyze/statistics.h"
#include "analyze/time/device_busy.h"
#include "analyze/time/intervals.h"

namespace spotter::analyze {
namespace {

constexpr double kPercent = 100;

// What is divided by a time at last.
struct Sums {
  double occupancy = 0;
  Ns occupied = 0;  // by the kernels that say their occupancy
  i64 pieces = 0;   // of multiprocessor_pieces
  double efficiency = 0;
};

bool is_kernel(const trace::DeviceWork& work, u32 row) { return work.kind[row] != trace::WorkKind::memory; }

void add_kernels(const Trace& trace, std::span<const trace::TensorCores> tensor_cores, i64 device,
                 std::span<const StepWindow> windows, std::vector<DeviceUse>& uses, std::vector<Sums>& sums) {
  const trace::DeviceWork& work = trace.device_work();
  std::vector<Union> streams;
  for (const trace::Stream& stream : work.streams) {
    if (stream.device != device) continue;
    Union& busy = streams.emplace_back();
    for (u32 row = stream.begin; row < stream.end; ++row) {
      if (!is_kernel(work, row)) continue;
      extend(busy, work.start[row], work.end[row]);
      const std::optional<double> occupancy = trace.real(work.event[row], Arg::occupancy);
      for_each_overlap(windows, work.start[row], work.end[row], [&](size_t i, Ns time) {
        uses[i].kernels += time;
        if (tensor_cores[row] == trace::TensorCores::yes) uses[i].tensor += time;
        if (tensor_cores[row] == trace::TensorCores::unknown) uses[i].unknown += time;
        if (!occupancy || *occupancy < 0 || *occupancy > kPercent) return;
        sums[i].occupancy += *occupancy / kPercent * static_cast<double>(time);
        sums[i].occupied += time;
      });
    }
  }
  for (const Interval& interval : unite(std::move(streams)))
    for_each_overlap(windows, interval.start, interval.end, [&](size_t i, Ns time) { uses[i].busy += time; });
}

void add_pieces(const Trace& trace, i64 device, std::span<const StepWindow> windows,
                std::vector<Sums>& sums) {
  const std::optional<std::vector<Piece>> pieces = multiprocessor_pieces(trace, device);
  if (!pieces) return;
  for (const Piece& piece : *pieces)
    for_each_overlap(windows, piece.start, piece.end, [&](size_t i, Ns time) {
      ++sums[i].pieces;
      sums[i].efficiency +=
          static_cast<double>(piece.height) / kAllMultiprocessors * static_cast<double>(time);
    });
}

}  // namespace

std::vector<DeviceUse> device_use(const Trace& trace, std::span<const trace::TensorCores> tensor_cores,
                                  i64 device, std::span<const StepWindow> windows) {
  std::vector<DeviceUse> uses(windows.size());
  std::vector<Sums> sums(windows.size());
  add_kernels(trace, tensor_cores, device, windows, uses, sums);
  add_pieces(trace, device, windows, sums);
  for (size_t i = 0; i < windows.size(); ++i) {
    if (sums[i].occupied > 0) uses[i].occupancy = sums[i].occupancy / static_cast<double>(sums[i].occupied);
    if (sums[i].pieces > 0)
      uses[i].sm_efficiency = sums[i].efficiency / static_cast<double>(windows[i].end - windows[i].start);
  }
  return uses;
}

std::array<Value, std::size(kDeviceUseFields)> values_of(const DeviceUse& use, Ns window) {
  return {ratio(use.busy, window), or_null(use.sm_efficiency), or_null(use.occupancy),
          ratio(use.tensor, use.kernels), ratio(use.unknown, use.kernels)};
}

}  // namespace spotter::analyze
