#include "analyze/time/idle_gaps.h"

#include <algorithm>

namespace spotter::analyze {

const char* idle_category_name(IdleCategory category) {
  constexpr const char* kNames[] = {"host_wait", "kernel_wait", "other"};
  return kNames[static_cast<size_t>(category)];
}

std::vector<Gap> idle_gaps(const Trace& trace, const trace::Stream& stream, Ns consecutive_kernel_delay) {
  std::vector<Gap> gaps;
  if (stream.begin == stream.end) return gaps;
  gaps.reserve(stream.end - stream.begin - 1);
  const trace::DeviceWork& work = trace.device_work();
  Ns end = work.end[stream.begin];
  for (u32 row = stream.begin + 1; row < stream.end; ++row) {
    const Ns gap = work.start[row] - end;
    const EventId launch = work.launch[row];
    if (gap < 0)
      gaps.push_back({IdleCategory::kernel_wait, true, 0});
    else if (launch != kNone && trace.ts[launch] > end)
      gaps.push_back({IdleCategory::host_wait, false, gap});
    else
      gaps.push_back(
          {gap < consecutive_kernel_delay ? IdleCategory::kernel_wait : IdleCategory::other, false, gap});
    end = std::max(end, work.end[row]);
  }
  return gaps;
}

}  // namespace spotter::analyze
