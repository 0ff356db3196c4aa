#include "analyze/tb_plugin/gpu_use.h"

#include <algorithm>

#include "base/stable_sort.h"

namespace spotter::analyze::tb_plugin {

Gpus gpus_of(const Trace& trace, const Events& events) {
  Gpus gpus;
  for (const Event& event : events.all) {
    if (event.type != EventType::kernel) continue;
    if (const auto device = trace.integer(event.id, Arg::device))
      gpus[*device].push_back(
          {event.time, trace.real(event.id, Arg::blocks_per_sm), trace.real(event.id, Arg::occupancy)});
  }
  return gpus;
}

UsIntervals busy_times(const std::vector<GpuKernel>& kernels) {
  UsIntervals all;
  for (const GpuKernel& kernel : kernels) all.push_back(kernel.time);
  return merged(std::move(all));
}

std::vector<GpuPiece> multiprocessor_pieces(const std::vector<GpuKernel>& kernels) {
  struct Change {
    Us time;
    double blocks;  // more at a start, less at an end
  };
  std::vector<Change> changes;
  for (const GpuKernel& kernel : kernels) {
    if (!kernel.blocks || !(*kernel.blocks > 0)) continue;
    changes.push_back({kernel.time.start, *kernel.blocks});
    changes.push_back({kernel.time.end, -*kernel.blocks});
  }
  // Starts before ends, and else as they come: the order decides what remains of the sum.
  stable_sort(changes, [](const Change& a, const Change& b) {
    return a.time != b.time ? a.time < b.time : a.blocks > 0 && b.blocks < 0;
  });
  std::vector<GpuPiece> pieces;
  double sum = 0;
  for (size_t i = 0; i + 1 < changes.size(); ++i) {
    sum += changes[i].blocks;
    const UsInterval time = {changes[i].time, changes[i + 1].time};
    if (sum > 0 && time.length() > 0) pieces.push_back({time, std::min(sum, 1.0)});
  }
  return pieces;
}

UsInterval whole_range(const Trace& trace, const Events& events) {
  UsInterval range = {events.start, events.start};
  for (const Event& event : events.all) {
    if (event.type == EventType::profiler && trace.name_of(event.id) == "PyTorch Profiler (0)")
      return event.time;
    range.end = std::max(range.end, event.time.end);
  }
  return range;
}

std::vector<UsInterval> buckets_of(const UsInterval& range) {
  constexpr double kMost = 100;
  Us bucket = 1;
  while (range.length() / bucket > kMost) bucket *= 10;
  const auto count = static_cast<i64>(range.length() / bucket);
  std::vector<UsInterval> buckets;
  for (i64 i = 0; i < count; ++i) {
    const Us start = range.start + static_cast<double>(i) * bucket;
    buckets.push_back({start, i + 1 < count ? start + bucket : range.end});
  }
  return buckets;
}

}  // namespace spotter::analyze::tb_plugin
