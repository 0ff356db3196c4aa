#include "analyze/operators/operator_calls.h"

#include <optional>
#include <set>

#include "analyze/launches/launching_operators.h"
#include "analyze/operators/repeated_calls.h"
#include "base/saturated.h"
#include "trace/facts/data_loading.h"
#include "trace/facts/tensor_cores.h"
#include "trace/facts/torch_marks.h"
#include "trace/nesting.h"
#include "trace/steps.h"

namespace spotter::analyze {
namespace {

struct NameFacts {
  bool is_operator = true, may_use_tensor_cores = false;
};

NameFacts facts_of(const trace::Steps& steps, std::string_view name) {
  const bool is_operator = !trace::is_data_loading(name) && !trace::is_optimizer_mark(name) &&
                           !trace::is_wrapper_mark(name) && !trace::is_step_mark(steps, name);
  return {is_operator, is_operator && trace::is_tensor_core_operator(name)};
}

// Which call an event is, of those of operators.
using Places = std::vector<u32>;  // per event; kNone: none

std::vector<OperatorCall> find_calls(const Trace& trace, const std::vector<EventId>& around, Places& places) {
  std::vector<std::optional<NameFacts>> by_name(trace.strings().size());
  std::vector<OperatorCall> calls;
  for (const EventId e : trace.nesting().order) {
    if (trace.category(e) != Category::cpu_op) continue;
    std::optional<NameFacts>& facts = by_name[trace.name[e]];
    if (!facts) facts = facts_of(trace.steps(), trace.name_of(e));
    places[e] = static_cast<u32>(calls.size());
    calls.push_back({.event = e,
                     .parent = around[e] == kNone ? kNone : places[around[e]],
                     .host_self = trace.dur[e],
                     .may_use_tensor_cores = facts->may_use_tensor_cores,
                     .is_operator = facts->is_operator});
  }
  return calls;
}

void subtract_inner_calls(const Trace& trace, const std::vector<EventId>& around, const Places& places,
                          std::vector<OperatorCall>& calls) {
  for (const OperatorCall& call : calls)
    if (call.parent != kNone) calls[call.parent].host_self -= trace.dur[call.event];
  const trace::Nesting& nesting = trace.nesting();
  for (u32 i = 0; i < nesting.order.size(); ++i) {
    const EventId e = nesting.order[i];
    if (!is_host_call(trace.category(e)) || around[e] == kNone) continue;
    const u32 parent = nesting.parent[i];
    const bool is_in_host_call = parent != kNone && is_host_call(trace.category(nesting.order[parent]));
    if (!is_in_host_call) calls[places[around[e]]].host_self -= trace.dur[e];
  }
}

i64 add_device_work(const Trace& trace, const std::vector<EventId>& around, const Places& places,
                    std::vector<OperatorCall>& calls) {
  const trace::DeviceWork& work = trace.device_work();
  const std::vector<trace::TensorCores> tensor_cores = trace::tensor_cores_by_row(trace);
  std::set<EventId> outside;
  for (size_t row = 0; row < work.event.size(); ++row) {
    const EventId launch = work.launch[row];
    if (launch == kNone) continue;
    const EventId op = places[launch] != kNone ? launch : around[launch];
    if (op == kNone) {
      outside.insert(launch);
      continue;
    }
    OperatorCall& call = calls[places[op]];
    const Ns dur = work.end[row] - work.start[row];
    call.device_self = add_saturated(call.device_self, dur);
    if (tensor_cores[row] != trace::TensorCores::yes) continue;
    call.tensor_self = add_saturated(call.tensor_self, dur);
    call.may_use_tensor_cores |= call.is_operator;
  }
  return static_cast<i64>(outside.size());
}

void add_up(std::vector<OperatorCall>& calls) {
  for (size_t i = calls.size(); i-- > 0;) {
    OperatorCall& call = calls[i];
    call.device_total = add_saturated(call.device_total, call.device_self);
    call.tensor_total = add_saturated(call.tensor_total, call.tensor_self);
    if (call.parent == kNone) continue;
    OperatorCall& parent = calls[call.parent];
    parent.device_total = add_saturated(parent.device_total, call.device_total);
    parent.tensor_total = add_saturated(parent.tensor_total, call.tensor_total);
    parent.may_use_tensor_cores |= parent.is_operator && call.may_use_tensor_cores;
  }
}

// Gives what a call that is all that another of its operator calls has to that one, and drops it.
void join_repeated(const Trace& trace, std::vector<OperatorCall>& calls) {
  std::vector<u32> around, joined;
  for (const OperatorCall& call : calls) around.push_back(call.parent);
  const std::vector<u8> repeats = repeated_calls(around, [&](u32 i) { return trace.name[calls[i].event]; });
  u32 kept = 0;
  for (u32 i = 0; i < calls.size(); ++i) {
    OperatorCall call = calls[i];
    if (call.parent != kNone) call.parent = joined[call.parent];
    const bool is_joined = repeats[i] && call.is_operator;
    joined.push_back(is_joined ? call.parent : kept);
    if (!is_joined) {
      calls[kept++] = call;
      continue;
    }
    OperatorCall& outer = calls[call.parent];
    outer.host_self += call.host_self;
    outer.device_self = add_saturated(outer.device_self, call.device_self);
    outer.tensor_self = add_saturated(outer.tensor_self, call.tensor_self);
  }
  calls.resize(kept);
}

}  // namespace

OperatorCalls operator_calls(const Trace& trace) {
  const std::vector<EventId> around = calling_operators(trace);
  Places places(trace.size(), kNone);
  OperatorCalls found;
  found.calls = find_calls(trace, around, places);
  subtract_inner_calls(trace, around, places, found.calls);
  found.launches_outside = add_device_work(trace, around, places, found.calls);
  add_up(found.calls);
  join_repeated(trace, found.calls);
  return found;
}

}  // namespace spotter::analyze
