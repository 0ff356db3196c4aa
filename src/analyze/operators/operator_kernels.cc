#include <algorithm>
#include <map>

#include "analyze/kernels/kernel_stats.h"
#include "analyze/launches/launching_operators.h"
#include "analyze/list.h"
#include "analyze/time/device_time.h"
#include "analyze/top.h"
#include "base/saturated.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"operator", Type::text, Unit::none, Role::key, "Operator; others: all that are not listed."},
    {"kernels", Type::text, Unit::none, Role::value,
     "What one call starts by itself, in the order of the launches, joined by \" -> \", of more than 32 the first and last 16; null for others."},
    {"calls", Type::integer, Unit::count, Role::value, "Calls that start just these."},
    {"device_ns", Type::integer, Unit::ns, Role::value, "Sum of the durations of what they start."},
    {"mean_operator_delay_ns", Type::real, Unit::ns, Role::value,
     "Mean time from the operator's start to that of its first launch."},
    {"mean_call_to_start_ns", Type::real, Unit::ns, Role::value,
     "Mean time from the start of the first launching call to that of its first kernel on the device: the call itself, and the launch delay (kernel_launch_stats)."},
};

constexpr Param kParams[] = {kTop};

struct Started {
  EventId op;
  u32 row;  // of DeviceWork
};

// What operators start by themselves: by operator, in the order of the launches, then of the device.
std::vector<Started> started_rows(const Trace& trace, i64& outside) {
  const trace::DeviceWork& work = trace.device_work();
  const std::vector<EventId> around = operators_around(trace);
  std::vector<Started> started;
  for (u32 row = 0; row < work.event.size(); ++row) {
    const EventId call = work.launch[row];
    if (call == kNone) continue;
    if (around[call] == kNone)
      ++outside;
    else
      started.push_back({around[call], row});
  }
  std::sort(started.begin(), started.end(), [&](const Started& a, const Started& b) {
    if (a.op != b.op) return a.op < b.op;
    const EventId x = work.launch[a.row], y = work.launch[b.row];
    return std::tuple(trace.ts[x], x, work.start[a.row], work.event[a.row]) <
           std::tuple(trace.ts[y], y, work.start[b.row], work.event[b.row]);
  });
  return started;
}

struct Group {
  std::vector<StringId> key = {};  // operator, then kernels; empty: others
  i64 calls = 0;
  Ns device = 0, operator_delay = 0, call_to_start = 0;
  void merge(const Group& o) {
    calls += o.calls;
    device += o.device;
    operator_delay = add_saturated(operator_delay, o.operator_delay);
    call_to_start = add_saturated(call_to_start, o.call_to_start);
  }
};

// Those that start the most device time first.
std::vector<Group> groups_of(const Trace& trace, std::span<const Started> started) {
  const trace::DeviceWork& work = trace.device_work();
  std::map<std::vector<StringId>, Group> groups;
  std::vector<StringId> key;
  for (size_t begin = 0, end = 0; begin < started.size(); begin = end) {
    const EventId op = started[begin].op, call = work.launch[started[begin].row];
    Group one{{}, 1, 0, trace.ts[call] - trace.ts[op], work.start[started[begin].row] - trace.ts[call]};
    key = {trace.name[op]};
    for (; end < started.size() && started[end].op == op; ++end) {
      const u32 row = started[end].row;
      key.push_back(trace.name[work.event[row]]);
      one.device += work.end[row] - work.start[row];
    }
    groups[key].merge(one);
  }
  std::vector<Group> list;
  for (auto& [kernels, group] : groups) {
    group.key = kernels;
    list.push_back(std::move(group));
  }
  std::sort(list.begin(), list.end(), [&](const Group& a, const Group& b) {
    if (a.device != b.device) return a.device > b.device;
    if (a.calls != b.calls) return a.calls > b.calls;
    return is_before(trace, a.key, b.key);
  });
  return list;
}

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kOperatorKernels.name, std::span(kColumns).subspan(1));
  if (trace.device_work().event.empty()) note_no_device_work(table);
  note_links(trace, table);
  i64 outside = 0;
  std::vector<Group> groups = groups_of(trace, started_rows(trace, outside));
  note_launches_outside_operators(outside, table);
  for (const Group& g : first_and_others(std::move(groups), params[kTop.name])) {
    const bool is_listed = !g.key.empty();
    const std::string kernels = is_listed ? joined(trace, std::span(g.key).subspan(1)) : std::string();
    const auto mean = [&](Ns sum) { return static_cast<double>(sum) / static_cast<double>(g.calls); };
    table.append({is_listed ? trace.strings()[g.key[0]] : "others",
                  is_listed ? Value(std::string_view(kernels)) : Value(), g.calls, g.device,
                  mean(g.operator_delay), mean(g.call_to_start)});
  }
  return table;
}

}  // namespace

const Analysis kOperatorKernels = {
    .name = "operator_kernels",
    .summary = "Which kernels each operator starts, and how long it and they take to begin, per rank.",
    .doc =
        "The calls of an operator that start the same device work, by themselves and in the same order, are one row. A "
        "launch belongs to the innermost operator around it on its own thread. The operator delay lies between the operator's start and "
        "that of its first launch: what the operator does on the host before. From that launch's start to the start of the first kernel "
        "that it started is mean_call_to_start_ns: the call and its launch delay, which is long where the queue is. Sorted by device_ns, "
        "calls, name; what is not among the first `top` is put into a last row named others. HTA (get_aten_op_kernels_and_delay) looks at aten:: operators of all threads "
        "together (B20), and at no launches of HIP or of graphs (B5).",
    .params = kParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
