#include <algorithm>
#include <cmath>
#include <limits>

#include "analyze/launches/launching_operators.h"
#include "analyze/list.h"
#include "base/stable_sort.h"
#include "base/text/number.h"
#include "trace/per_kind.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"kernel", Type::text, Unit::none, Role::key, "Name of the range: the kernel, as the profiler knows it."},
    {"counter", Type::text, Unit::none, Role::key, "Metric of CUPTI."},
    {"value", Type::real, Unit::none, Role::value,
     "What it counted, in the metric's unit; null if no number."},
    {"operator", Type::text, Unit::none, Role::value,
     "Innermost operator around the launch; null if unknown."},
    {"top_operator", Type::text, Unit::none, Role::value, "Outermost operator around the launch."},
    {"start_ns", Type::integer, Unit::ns, Role::time,
     "Start of the range, Unix time; only its order counts."},
    {"operators", Type::text, Unit::none, Role::detail,
     "All operators around the launch, the outermost first, joined by \" -> \"."},
    {"event", Type::integer, Unit::none, Role::detail, "Position of the range in the file's traceEvents."},
};

// Calls that launch one kernel each: what CUPTI makes a range of.
bool launches_kernel(std::string_view call) {
  return call.starts_with("cudaLaunchKernel") || call.starts_with("cuLaunchKernel") ||
         call.starts_with("cudaLaunchCooperativeKernel") || call.starts_with("cuLaunchCooperativeKernel");
}

struct Counted {
  std::vector<EventId> ranges, launches;  // each by time, then by position
};

Counted find_counted(const Trace& trace) {
  const auto is_range = trace::per_kind(
      trace, [](const Kind& k) { return k.is_span && k.category == Category::profiler_range; });
  const auto is_call =
      trace::per_kind(trace, [](const Kind& k) { return k.is_span && is_host_call(k.category); });
  Counted found;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (is_range[trace.kind[e]]) found.ranges.push_back(e);
    if (is_call[trace.kind[e]] && launches_kernel(trace.name_of(e))) found.launches.push_back(e);
  }
  const auto earlier = [&](EventId a, EventId b) { return trace.ts[a] < trace.ts[b]; };
  stable_sort(found.ranges, earlier);
  stable_sort(found.launches, earlier);
  return found;
}

// Whether the k-th range is that of the k-th launch. Ranges have no correlation and no thread, and each
// device's are numbered on their own, while the launches do not tell their device.
bool are_paired(const Trace& trace, const Counted& found, Table& table) {
  const auto note = [&](std::string_view sentence, size_t count) {
    table.notes.add("counters_and_launches", Severity::info, sentence, -1, static_cast<i64>(count));
  };
  const auto pid = [&](EventId e) { return trace.tracks()[trace.track[e]].pid; };
  if (std::ranges::any_of(found.ranges, [&](EventId e) { return pid(e) != pid(found.ranges[0]); })) {
    note("ranges with counters are of several devices; their launches and operators are not known",
         found.ranges.size());
    return false;
  }
  if (found.ranges.size() != found.launches.size()) {
    note("ranges with counters are more or fewer than the kernel launches; their operators are not known",
         found.ranges.size());
    return false;
  }
  size_t overlapping = 0;
  Ns end = std::numeric_limits<Ns>::min();
  for (const EventId launch : found.launches) {
    overlapping += trace.ts[launch] < end;
    end = std::max(end, trace.end(launch));
  }
  if (overlapping > 0)
    note("kernel launches begin during another one; the order of their counters is uncertain", overlapping);
  return true;
}

Value number(std::string_view text) {
  const auto value = number_in<double>(text);
  return value && std::isfinite(*value) ? Value(*value) : Value();
}

struct Operators {
  Value innermost, outermost, all;
};

// Of a launch. `text` keeps the letters of `all`.
Operators operators_of(const Trace& trace, std::span<const EventId> around, EventId launch,
                       std::string& text) {
  Operators found;
  text.clear();
  for (EventId op = around[launch]; op != kNone; op = around[op]) {
    const std::string_view name = trace.name_of(op);
    if (is_null(found.innermost)) found.innermost = name;
    found.outermost = name;
    text = text.empty() ? std::string(name) : std::string(name) + " -> " + text;
  }
  if (!is_null(found.innermost)) found.all = std::string_view(text);
  return found;
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kCuptiCounters.name, std::span(kColumns).subspan(1));
  const Counted found = find_counted(trace);
  if (found.ranges.empty()) {
    table.notes.add("no_counters", Severity::info, "traces without counters of CUPTI have no rows here");
    return table;
  }
  const bool paired = are_paired(trace, found, table);
  const std::vector<EventId> around = paired ? operators_around(trace) : std::vector<EventId>();
  std::string text;
  for (size_t i = 0; i < found.ranges.size(); ++i) {
    const EventId range = found.ranges[i];
    const Operators ops = paired ? operators_of(trace, around, found.launches[i], text) : Operators();
    for (const Shape::Item& item : trace.shape_of(range).items) {
      if (item.arg < kKnownArgs) continue;
      table.append({trace.name_of(range), trace.arg_name(item.arg), number(trace.arg_text(range, item)),
                    ops.innermost, ops.outermost, trace.info().base_ns + trace.ts[range], ops.all,
                    static_cast<i64>(range)});
    }
  }
  return table;
}

// A metric's name is none of the arguments that Spotter knows.
ArgSet other_args() {
  ArgSet args;
  args.all = true;
  return args;
}

}  // namespace

const Analysis kCuptiCounters = {
    .name = "cupti_counters",
    .summary = "What CUPTI counted in each kernel, and the operators that launched it.",
    .doc =
        "One row per range of the category cuda_profiler_range and per counter of it, by the range's time, the counters in the "
        "order of the file. A range is one kernel where the profiler was told to count per kernel. Values are as written, in the metric's "
        "own unit. Kineto writes ranges without a correlation, and their times divide the recording evenly, so that only their order means "
        "something: the k-th range is that of the k-th launch by start, if all ranges are of one device and there are just as many "
        "launches. Launches are the host calls cudaLaunchKernel, cudaLaunchCooperativeKernel, cuLaunchKernel, cuLaunchCooperativeKernel and their "
        "variants. Otherwise the operators are null and a note says why. With --steps the ranges kept need not be those of "
        "the launches kept. Operators are those around the launch on its own thread. HTA (get_cupti_counter_data_with_operators) pairs in the same way, puts the "
        "counters into columns, knows only cudaLaunchKernel, mixes the devices, leaves the whole rank out where the counts differ, and fails on a launch outside any operator.",
    .params = {},
    .columns = kColumns,
    .reads = other_args(),
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
