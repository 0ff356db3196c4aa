#include "analyze/launches/launch_queue.h"
#include "analyze/list.h"
#include "analyze/statistics.h"
#include "analyze/time/device_time.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"device", Type::integer, Unit::none, Role::key, "Device number."},
    {"stream", Type::integer, Unit::none, Role::key, "Stream of that device."},
    {"time_mean", Type::real, Unit::none, Role::value,
     "Mean length of the queue over the time from its first change to its last; null where that is 0."},
    {"max", Type::integer, Unit::count, Role::value, "Longest queue."},
    {"span_ns", Type::integer, Unit::ns, Role::detail, "Time from the first change to the last."},
    {"count", Type::integer, Unit::count, Role::detail,
     "Number of changes: two for each piece of device work."},
    {"mean", Type::real, Unit::none, Role::detail,
     "Mean length over the changes, each as long as any other."},
    {"std", Type::real, Unit::none, Role::detail, "Standard deviation of the sample of changes."},
    {"min", Type::integer, Unit::count, Role::detail,
     "Shortest queue; below 0 where work starts before its launch."},
    {"p25", Type::real, Unit::none, Role::detail,
     "After a quarter of the changes it is shorter; interpolated."},
    {"median", Type::real, Unit::none, Role::value, "After half of the changes it is shorter; interpolated."},
    {"p75", Type::real, Unit::none, Role::detail,
     "After three quarters of the changes it is shorter; interpolated."},
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kQueueLength.name, std::span(kColumns).subspan(1));
  if (trace.device_work().event.empty()) note_no_device_work(table);
  note_links(trace, table);
  for (const trace::Stream& stream : trace.device_work().streams) {
    const std::vector<QueuePoint> points = queue_points(trace, stream);
    if (points.empty()) continue;
    std::vector<i64> lengths;
    double weighted = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      lengths.push_back(points[i].length);
      if (i > 0)
        weighted += static_cast<double>(points[i - 1].length) *
                    static_cast<double>(points[i].time - points[i - 1].time);
    }
    const Ns span = points.back().time - points.front().time;
    const Statistics s = statistics_of(lengths);
    table.append({stream.device, stream.stream,
                  span > 0 ? Value(weighted / static_cast<double>(span)) : Value(), s.max, span, s.count,
                  s.mean, s.std, s.min, s.p25, s.median, s.p75});
  }
  return table;
}

}  // namespace

const Analysis kQueueLength = {
    .name = "queue_length",
    .summary = "How far the host is ahead of the device: launched work that waits, per rank and stream.",
    .doc =
        "The queue of a stream grows by one at the start of a host call for each piece of device work that it launches "
        "there, and shrinks by one where such a piece starts; where both fall on one time, the launch comes first. A "
        "queue about 0 means that the device waits for the host, one about 1,000 that the host waits for the device. "
        "time_mean weighs each length with the time for which it lasts; count, mean, std and the quartiles are over the "
        "changes, as HTA has them (get_queue_length_summary; there the order at equal times is undefined, B11, and graphs and other "
        "launches are missing, B5). Work without a known launch is left out.",
    .params = {},
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
