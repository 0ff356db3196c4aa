#include "analyze/time/device_busy.h"

#include <algorithm>
#include <cmath>

#include "analyze/time/intervals.h"

namespace spotter::analyze {
namespace {

template <class F>
void for_each_row(const trace::DeviceWork& work, i64 device, F&& take) {
  for (const trace::Stream& stream : work.streams) {
    if (stream.device != device) continue;
    for (u32 i = stream.begin; i < stream.end; ++i) take(i);
  }
}

// In whole units, so that a sum of many that come and go ends at 0; of more than all it is no matter how
// many.
i64 units_of(double blocks_per_sm) {
  constexpr double kMost = 1e3;
  return std::llround(std::min(blocks_per_sm, kMost) * static_cast<double>(kAllMultiprocessors));
}

struct Change {
  Ns time;
  i64 by;
};

std::vector<Piece> clipped_sum(std::vector<Change> changes) {
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.time < b.time; });
  std::vector<Piece> pieces;
  i64 sum = 0;
  for (size_t i = 0; i + 1 < changes.size(); ++i) {
    sum += changes[i].by;
    const Ns start = changes[i].time, end = changes[i + 1].time;
    if (sum > 0 && start < end) pieces.push_back({start, end, std::min(sum, kAllMultiprocessors)});
  }
  return pieces;
}

}  // namespace

std::vector<i64> devices_of(const trace::DeviceWork& work) {
  std::vector<i64> devices;
  for (const trace::Stream& stream : work.streams)
    if (devices.empty() || devices.back() != stream.device) devices.push_back(stream.device);
  return devices;
}

std::vector<Piece> busy_pieces(const trace::DeviceWork& work, i64 device) {
  std::vector<Union> streams;
  for (const trace::Stream& stream : work.streams) {
    if (stream.device != device) continue;
    Union& busy = streams.emplace_back();
    for (u32 i = stream.begin; i < stream.end; ++i) extend(busy, work.start[i], work.end[i]);
  }
  std::vector<Piece> pieces;
  for (const Interval& interval : unite(std::move(streams)))
    pieces.push_back({interval.start, interval.end, 1});
  return pieces;
}

std::optional<std::vector<Piece>> multiprocessor_pieces(const Trace& trace, i64 device) {
  const trace::DeviceWork& work = trace.device_work();
  std::vector<Change> changes;
  bool any = false;
  for_each_row(work, device, [&](u32 i) {
    const std::optional<double> blocks = trace.real(work.event[i], Arg::blocks_per_sm);
    if (!blocks) return;
    any = true;
    if (*blocks <= 0) return;
    changes.push_back({work.start[i], units_of(*blocks)});
    changes.push_back({work.end[i], -units_of(*blocks)});
  });
  if (!any) return std::nullopt;
  return clipped_sum(std::move(changes));
}

}  // namespace spotter::analyze
