#include <algorithm>
#include <map>

#include "analyze/kernels/kernel_patterns.h"
#include "analyze/kernels/kernel_stats.h"
#include "analyze/list.h"
#include "analyze/time/device_time.h"
#include "analyze/top.h"
#include "trace/nesting.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"kernels", Type::text, Unit::none, Role::key,
     "The sequence, joined by \" -> \"; of more than 32 the first and last 16."},
    {"operator", Type::text, Unit::none, Role::detail,
     "Whose calls start it; null where none was asked for."},
    {"length", Type::integer, Unit::count, Role::detail, "Kernels, copies and sets in it."},
    {"count", Type::integer, Unit::count, Role::value, "How often it occurs; occurrences do not overlap."},
    {"device_ns", Type::integer, Unit::ns, Role::value, "Sum of the durations of all that belongs to it."},
    {"operator_ns", Type::integer, Unit::ns, Role::detail,
     "Sum of the durations of the calls; null where no operator was asked for."},
    {"saved_launches", Type::integer, Unit::count, Role::value,
     "Host calls less if each occurrence were one launch; null where an operator was asked for, as the next two."},
    {"saved_host_ns", Type::integer, Unit::ns, Role::value, "Time of the host in these calls."},
    {"saved_gaps_ns", Type::integer, Unit::ns, Role::detail, "Time in which the stream is idle inside it."},
};

constexpr Param kOperator = {"operator", "",
                             "take the sequences under operators and annotations with this in their name"};
constexpr Param kLeast = {"min_pattern_length", 3, "shortest sequence of kernels that counts"};
constexpr Param kParams[] = {kOperator, kLeast, kTop};

template <class T>
std::span<const T> first(const std::vector<T>& all, i64 top) {
  return std::span(all).first(top == 0 ? all.size() : std::min(all.size(), static_cast<size_t>(top)));
}

void append_mined(const Trace& trace, const ParamValues& params, Table& table) {
  std::vector<KernelPattern> patterns =
      kernel_patterns(trace, static_cast<size_t>(std::max<i64>(1, params[kLeast.name])));
  std::sort(patterns.begin(), patterns.end(), [&](const KernelPattern& a, const KernelPattern& b) {
    if (a.launches != b.launches) return a.launches > b.launches;
    if (a.device != b.device) return a.device > b.device;
    return is_before(trace, a.names, b.names);
  });
  for (const KernelPattern& p : first(patterns, params[kTop.name])) {
    const std::string text = joined(trace, p.names);
    table.append({std::string_view(text),
                  {},
                  static_cast<i64>(p.names.size()),
                  p.count,
                  p.device,
                  {},
                  p.launches,
                  p.host,
                  p.gaps});
  }
}

// A call with this in its name that is inside no other such call, and what it and all below it start.
struct Call {
  EventId event;
  std::vector<u32> rows;  // of DeviceWork
};

std::vector<Call> outermost_calls(const Trace& trace, std::string_view wanted) {
  const trace::Nesting& nesting = trace.nesting();
  const trace::DeviceWork& work = trace.device_work();
  std::vector<Call> calls;
  std::vector<u32> call_of(trace.size(), kNone);  // per host span: index into calls
  std::vector<u8> fits(trace.strings().size(), 2);
  const auto is_wanted = [&](EventId e) {
    if (is_host_call(trace.category(e)) || trace.category(e) == Category::python_function) return false;
    u8& known = fits[trace.name[e]];
    if (known == 2) known = trace.name_of(e).find(wanted) != std::string_view::npos;
    return known == 1;
  };
  for (size_t i = 0; i < nesting.order.size(); ++i) {
    const EventId e = nesting.order[i];
    if (nesting.parent[i] != kNone) call_of[e] = call_of[nesting.order[nesting.parent[i]]];
    if (call_of[e] != kNone || !is_wanted(e)) continue;
    call_of[e] = static_cast<u32>(calls.size());
    calls.push_back({e, {}});
  }
  for (u32 row = 0; row < work.event.size(); ++row)
    if (work.launch[row] != kNone && call_of[work.launch[row]] != kNone)
      calls[call_of[work.launch[row]]].rows.push_back(row);
  for (Call& call : calls)
    std::sort(call.rows.begin(), call.rows.end(), [&](u32 a, u32 b) {
      return std::pair(work.start[a], work.event[a]) < std::pair(work.start[b], work.event[b]);
    });
  return calls;
}

void append_under(const Trace& trace, const ParamValues& params, Table& table) {
  struct Group {
    i64 count = 0;
    Ns device = 0, calls = 0;
  };
  const trace::DeviceWork& work = trace.device_work();
  using Key = std::vector<StringId>;  // operator, then kernels
  std::map<Key, Group> groups;
  for (const Call& call : outermost_calls(trace, params.text(kOperator.name))) {
    if (call.rows.size() < static_cast<size_t>(std::max<i64>(1, params[kLeast.name]))) continue;
    Key key = {trace.name[call.event]};
    Ns device = 0;
    for (const u32 row : call.rows) {
      key.push_back(trace.name[work.event[row]]);
      device += work.end[row] - work.start[row];
    }
    Group& group = groups[std::move(key)];
    ++group.count;
    group.device += device;
    group.calls += trace.dur[call.event];
  }
  std::vector<const std::pair<const Key, Group>*> order;
  for (const auto& group : groups) order.push_back(&group);
  std::sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
    if (a->second.count != b->second.count) return a->second.count > b->second.count;
    return is_before(trace, a->first, b->first);
  });
  for (const auto* group : first(order, params[kTop.name])) {
    const std::span<const StringId> kernels = std::span(group->first).subspan(1);
    const std::string text = joined(trace, kernels);
    table.append({std::string_view(text),
                  trace.strings()[group->first[0]],
                  static_cast<i64>(kernels.size()),
                  group->second.count,
                  group->second.device,
                  group->second.calls,
                  {},
                  {},
                  {}});
  }
}

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kFrequentKernelSequences.name, std::span(kColumns).subspan(1));
  if (trace.device_work().event.empty()) note_no_device_work(table);
  note_links(trace, table);
  if (params.text(kOperator.name).empty())
    append_mined(trace, params, table);
  else
    append_under(trace, params, table);
  return table;
}

}  // namespace

const Analysis kFrequentKernelSequences = {
    .name = "frequent_kernel_sequences",
    .summary = "Sequences of kernels that recur, and what fusing them would save, per rank.",
    .doc =
        "Without `operator`: sequences of min_pattern_length or more kernels, copies and sets, one right after the other on a "
        "stream, that occur at least twice. They are found as Re-Pair (Larsson and Moffat, 1999) compresses: the two "
        "neighbours that occur together most often become one, again and again; what has grown so is not joined with its own kind; "
        "a sequence that is only ever found as part of one longer sequence is left out. Others may be part of longer ones, so savings do not add up. "
        "count is that of the streams, not of the compression: along each stream the first occurrence counts, then the first that begins "
        "where that one has ended or later, and so on; no other choice of occurrences that do not overlap has more. If each occurrence were one launch, as with fused kernels or a graph, "
        "the host would save all calls but one of those that start nothing but work of the occurrence: saved_launches, saved_host_ns. So what one graph starts saves "
        "none; a graph that starts other work too is launched anyway, and calls that are not in the trace do not count. The stream would save the gaps, if the "
        "kernels were one. Sorted by saved_launches, device_ns. With `operator`: each operator or annotation whose name contains the text, and that is not "
        "inside another such one, with all device work that is launched below it, by start; equal operators with equal "
        "lists of min_pattern_length or more are one row. Sorted by count. At most `top` rows. HTA (get_frequent_cuda_kernel_sequences) has the second alone, takes only "
        "operators at the smallest depth, and counts synchronisation as kernels (B40).",
    .params = kParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
