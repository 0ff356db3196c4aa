#include "analyze/launches/launch_queue.h"
#include "analyze/list.h"
#include "analyze/statistics.h"
#include "analyze/time/device_time.h"
#include "trace/extent.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"device", Type::integer, Unit::none, Role::key, "Device number."},
    {"stream", Type::integer, Unit::none, Role::key, "Stream of that device."},
    {"blocked_ns", Type::integer, Unit::ns, Role::value,
     "Time in which the queue is max_queue_length long or longer."},
    {"ratio", Type::real, Unit::ratio, Role::value, "Share of the time of the trace."},
};

constexpr Param kParams[] = {{"max_queue_length", i64{kQueueLimit},
                              "a stream with so much launched work makes the host wait; CUDA's limit"}};

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kQueueBlocked.name, std::span(kColumns).subspan(1));
  if (trace.device_work().event.empty()) note_no_device_work(table);
  note_links(trace, table);
  const trace::Extent extent = trace::extent_of(trace);
  for (const trace::Stream& stream : trace.device_work().streams) {
    const std::vector<QueuePoint> points = queue_points(trace, stream);
    Ns blocked = 0;
    for (size_t i = 1; i < points.size(); ++i)
      if (points[i - 1].length >= params[kParams[0].name]) blocked += points[i].time - points[i - 1].time;
    if (blocked > 0)
      table.append({stream.device, stream.stream, blocked, ratio(blocked, extent.end - extent.start)});
  }
  return table;
}

}  // namespace

const Analysis kQueueBlocked = {
    .name = "queue_blocked",
    .summary = "Time in which a stream's queue is full, so that the host has to wait.",
    .doc =
        "Per stream the time in which its queue, as queue_length defines it, is max_queue_length long or longer; streams that "
        "never get there have no row. ratio is the share of the time from the first span of the trace to the "
        "end of the last. HTA (get_time_spent_blocked_on_full_queue) keeps one stream per rank only (B22).",
    .params = kParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
