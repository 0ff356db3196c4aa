#include <algorithm>

#include "analyze/list.h"
#include "analyze/time/device_time.h"
#include "base/system/file.h"
#include "trace/extent.h"
#include "trace/steps.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"file", Type::text, Unit::none, Role::key, "Name of the trace file, without its folder."},
    {"host", Type::text, Unit::none, Role::detail,
     "Host that wrote the trace; null where neither the file nor a receipt beside it says."},
    {"device", Type::text, Unit::none, Role::detail,
     "Names of the devices that worked; null where none did or the file does not name them."},
    {"world_size", Type::integer, Unit::count, Role::detail,
     "Number of ranks in the job, as the file says; null where it does not."},
    {"events", Type::integer, Unit::count, Role::value, "Number of events of any sort."},
    {"spans", Type::integer, Unit::count, Role::detail,
     "Number of events with a start, a duration and a category; the profiler's own span does not count."},
    {"device_events", Type::integer, Unit::count, Role::value,
     "Spans that are kernels, copies or sets of a device."},
    {"host_events", Type::integer, Unit::count, Role::detail, "All other spans."},
    {"steps", Type::integer, Unit::count, Role::value, "Number of training steps that were found."},
    {"step_mark", Type::text, Unit::none, Role::detail,
     "Name of the events that mark the steps; null without steps."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Start of the first span, Unix time."},
    {"span_ns", Type::integer, Unit::ns, Role::value, "End of the last span minus start of the first one."},
    {"losses", Type::integer, Unit::count, Role::value,
     "Number of notes that tell of something missing in the trace."},
};

// Names of the devices that have work, each once, in the order of the file's list.
std::string used_devices(const Trace& trace) {
  std::vector<std::string_view> names;
  for (const Device& device : trace.info().devices) {
    const auto& streams = trace.device_work().streams;
    const bool used = std::any_of(streams.begin(), streams.end(),
                                  [&](const trace::Stream& s) { return s.device == device.id; });
    const bool listed = std::find(names.begin(), names.end(), device.name) != names.end();
    if (used && !listed && !device.name.empty()) names.push_back(device.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  const TraceInfo& info = trace.info();
  const trace::Extent extent = trace::extent_of(trace);
  const auto device_events = static_cast<i64>(trace.device_work().event.size());
  const std::string devices = used_devices(trace);
  const trace::Steps& steps = trace.steps();
  i64 losses = 0;
  for (const Note& note : trace.notes().all()) losses += note.severity == Severity::loss;

  Table table(kSummary.name, std::span(kColumns).subspan(1));
  trace::add_step_notes(steps, table.notes);
  table.append({
      base_name(info.path),
      or_null(info.host_name),
      or_null(devices),
      info.world_size ? Value(*info.world_size) : Value(),
      i64{trace.size()},
      extent.spans,
      device_events,
      extent.spans - device_events,
      static_cast<i64>(steps.steps.size()),
      steps.steps.empty() ? Value() : or_null(steps.mark_name),
      extent.known() ? Value(info.base_ns + extent.start) : Value(),
      extent.known() ? Value(extent.end - extent.start) : Value(),
      losses,
  });
  return table;
}

}  // namespace

const Analysis kSummary = {
    .name = "summary",
    .summary = "What each trace holds: events, devices, steps, time covered, losses.",
    .doc =
        "One row per trace file. A span is an event with phase X (or none), a numeric start and duration, "
        "and a category; the profiler's own span (category Trace), which covers the whole recording, is "
        "left out. The category decides whether a span is device work: kernels, copies and sets of every "
        "backend. Synchronisation rows and annotations on a device's timeline are not device work and count "
        "as host events. start_ns and span_ns cover all spans. losses counts the notes of severity loss "
        "that reading the file gave.",
    .params = {},
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs | trace::kStepArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
