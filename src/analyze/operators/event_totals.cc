#include <algorithm>

#include "analyze/kernels/dense_ids.h"
#include "analyze/list.h"
#include "analyze/time/device_time.h"
#include "trace/classify.h"
#include "trace/per_kind.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"side", Type::text, Unit::none, Role::key, "host or device."},
    {"kind", Type::text, Unit::none, Role::key,
     "operator, annotation, python or call (of runtime or driver) on the host; compute, communication or memory on the device."},
    {"name", Type::text, Unit::none, Role::key, "Name of the spans."},
    {"count", Type::integer, Unit::count, Role::value, "Number of them."},
    {"sum_ns", Type::integer, Unit::ns, Role::value, "Sum of their durations, whatever they enclose."},
};

constexpr const char* kHostKinds[] = {"operator", "annotation", "python", "call"};

u8 host_kind_of(const Kind& kind) {
  if (!kind.is_span) return std::size(kHostKinds);
  if (kind.category == Category::cpu_op) return 0;
  if (kind.category == Category::user_annotation) return 1;
  if (kind.category == Category::python_function) return 2;
  return is_host_call(kind.category) ? 3 : std::size(kHostKinds);
}

struct Total {
  size_t kind = 0;
  StringId name = 0;
  i64 count = 0;
  Ns sum = 0;
};

// One for each kind and name, in order of first arrival.
class Totals {
 public:
  Totals(const Trace& trace, size_t kinds) : kinds_(kinds), ids_(trace.strings().size() * kinds) {}
  void add(StringId name, size_t kind, Ns dur) {
    const u32 id = ids_.id(name * kinds_ + kind);
    if (id == all.size()) all.push_back({kind, name, 0, 0});
    ++all[id].count;
    all[id].sum += dur;
  }
  std::vector<Total> all;

 private:
  size_t kinds_;
  DenseIds ids_;
};

void append(const Trace& trace, const char* side, std::vector<Total> totals, const char* (*kind_name)(size_t),
            Table& table) {
  std::sort(totals.begin(), totals.end(), [&](const Total& a, const Total& b) {
    return a.sum != b.sum
               ? a.sum > b.sum
               : std::pair(trace.strings()[a.name], a.kind) < std::pair(trace.strings()[b.name], b.kind);
  });
  for (const Total& t : totals)
    table.append({side, kind_name(t.kind), trace.strings()[t.name], t.count, t.sum});
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kEventTotals.name, std::span(kColumns).subspan(1));
  const auto host_kinds = trace::per_kind(trace, host_kind_of);
  Totals host(trace, std::size(kHostKinds)), device(trace, trace::kWorkKinds);
  for (EventId e = 0; e < trace.size(); ++e)
    if (const u8 kind = host_kinds[trace.kind[e]]; kind < std::size(kHostKinds))
      host.add(trace.name[e], kind, trace.dur[e]);
  const trace::DeviceWork& work = trace.device_work();
  for (size_t row = 0; row < work.event.size(); ++row)
    device.add(trace.name[work.event[row]], static_cast<size_t>(work.kind[row]),
               work.end[row] - work.start[row]);
  append(trace, "host", std::move(host.all), [](size_t kind) { return kHostKinds[kind]; }, table);
  append(
      trace, "device", std::move(device.all),
      [](size_t kind) { return trace::work_kind_name(static_cast<trace::WorkKind>(kind)); }, table);
  return table;
}

}  // namespace

const Analysis kEventTotals = {
    .name = "event_totals",
    .summary = "How often each operator, annotation, call and kernel occurs, and its time, per rank.",
    .doc =
        "Spans of the host and device work grouped by kind and full name. Durations are whole: what a span encloses counts in "
        "both. Every name is listed, sorted by side, sum and name. `spotter diff` compares these tables of two jobs.",
    .params = {},
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
