#include "analyze/launches/launch_queue.h"
#include "analyze/list.h"
#include "analyze/time/device_time.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"device", Type::integer, Unit::none, Role::key, "Device number."},
    {"stream", Type::integer, Unit::none, Role::key, "Stream of that device."},
    {"time_ns", Type::integer, Unit::ns, Role::time, "When the length changes, Unix time."},
    {"queue_length", Type::integer, Unit::count, Role::value, "Launched work that waits, from then on."},
    {"event", Type::integer, Unit::none, Role::detail,
     "Position in the file's traceEvents of the launch or of what starts."},
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kQueueLengthSeries.name, std::span(kColumns).subspan(1));
  if (trace.device_work().event.empty()) note_no_device_work(table);
  note_links(trace, table);
  for (const trace::Stream& stream : trace.device_work().streams)
    for (const QueuePoint& point : queue_points(trace, stream))
      table.append({stream.device, stream.stream, trace.info().base_ns + point.time, point.length,
                    static_cast<i64>(point.event)});
  return table;
}

}  // namespace

const Analysis kQueueLengthSeries = {
    .name = "queue_length_series",
    .summary = "The length of each stream's queue of launched work over time.",
    .doc =
        "One row per change of a queue, as queue_length defines it, by device, stream and time. With --steps the position is that "
        "among the events of these steps.",
    .params = {},
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
