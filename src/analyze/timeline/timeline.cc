#include "analyze/list.h"
#include "analyze/time/device_time.h"
#include "analyze/timeline/time_window.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"device", Type::integer, Unit::none, Role::key, "Device number."},
    {"stream", Type::integer, Unit::none, Role::key, "Stream of that device."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Start, Unix time."},
    {"dur_ns", Type::integer, Unit::ns, Role::value, "Duration."},
    {"kind", Type::text, Unit::none, Role::value, "compute, communication or memory."},
    {"name", Type::text, Unit::none, Role::value, "Kernel, copy or set."},
    {"event", Type::integer, Unit::none, Role::detail, "Position in the file's traceEvents."},
};

constexpr Param kParams[] = {kFrom, kTo};

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kTimeline.name, std::span(kColumns).subspan(1));
  const trace::DeviceWork& work = trace.device_work();
  if (work.event.empty()) note_no_device_work(table);
  const TimeWindow window(trace, params);
  for (const trace::Stream& stream : work.streams) {
    for (u32 row = stream.begin; row < stream.end; ++row) {
      if (!window.has(work.start[row], work.end[row])) continue;
      const EventId e = work.event[row];
      table.append({stream.device, stream.stream, trace.info().base_ns + work.start[row],
                    work.end[row] - work.start[row], trace::work_kind_name(work.kind[row]), trace.name_of(e),
                    static_cast<i64>(e)});
    }
  }
  if (table.rows() == 0 && !work.event.empty())
    table.notes.add("no_work_in_window", Severity::info,
                    "traces without device work between from_ns and to_ns have no rows here");
  return table;
}

}  // namespace

const Analysis kTimeline = {
    .name = "timeline",
    .summary = "What ran on each stream, and when; --format svg draws it.",
    .doc =
        "One row per kernel, copy and set that runs at least in part between from_ns and to_ns, counted from the start of "
        "the trace's first span, by device, stream and start. With --steps the device work of these steps, and the position is that among "
        "their events. HTA (plot_timeline_gpu_kernels) draws what is shorter than 1 ms as if it lasted so long.",
    .params = kParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
