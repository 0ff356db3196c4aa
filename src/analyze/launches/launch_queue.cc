#include "analyze/launches/launch_queue.h"

#include <algorithm>

#include "base/stable_sort.h"

namespace spotter::analyze {

std::vector<QueuePoint> queue_points(const Trace& trace, const trace::Stream& stream) {
  const trace::DeviceWork& work = trace.device_work();
  std::vector<QueuePoint> launches, starts, points;
  launches.reserve(stream.end - stream.begin);
  starts.reserve(stream.end - stream.begin);
  for (u32 row = stream.begin; row < stream.end; ++row) {
    const EventId call = work.launch[row];
    if (call == kNone) continue;
    launches.push_back({trace.ts[call], 1, call});
    starts.push_back({work.start[row], -1, work.event[row]});
  }
  const auto earlier = [](const QueuePoint& a, const QueuePoint& b) { return a.time < b.time; };
  stable_sort(launches, earlier);
  points.reserve(2 * launches.size());
  std::merge(launches.begin(), launches.end(), starts.begin(), starts.end(), std::back_inserter(points),
             earlier);
  i64 length = 0;
  for (QueuePoint& point : points) point.length = length += point.length;
  return points;
}

}  // namespace spotter::analyze
