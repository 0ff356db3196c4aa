#include "trace/forward_links.h"

#include <algorithm>

#include "trace/per_kind.h"

namespace spotter::trace {

BackwardOperators::BackwardOperators(const Trace& trace)
    : trace_(trace),
      is_operator_(
          per_kind(trace, [](const Kind& k) { return k.is_span && k.category == Category::cpu_op; })),
      is_mark_(trace.strings().size()) {
  for (StringId s = 0; s < is_mark_.size(); ++s)
    is_mark_[s] = trace.strings()[s].starts_with("autograd::engine::evaluate_function");
}

ForwardLinks::ForwardLinks(const Trace& trace) : trace_(trace), backward_(trace) {
  for (EventId e = 0; e < trace.size(); ++e) {
    if (!backward_.has(e)) continue;
    const i64 number = node(e);
    if (number < 0) continue;
    Node& known = nodes_.try_emplace(number, Node{trace.ts[e]}).first->second;
    known.backward = std::min(known.backward, trace.ts[e]);
  }
  if (nodes_.empty()) return;
  const auto is_operator =
      per_kind(trace, [](const Kind& k) { return k.is_span && k.category == Category::cpu_op; });
  for (EventId e = 0; e < trace.size(); ++e) {
    if (!is_operator[trace.kind[e]] || backward_.has(e)) continue;
    const auto known = nodes_.find(node(e));
    if (known == nodes_.end() || trace.ts[e] >= known->second.backward) continue;
    EventId& forward = known->second.forward;
    if (forward == kNone || trace.ts[forward] <= trace.ts[e]) forward = e;
  }
}

i64 ForwardLinks::node(EventId e) const {
  return std::max<i64>(trace_.integer(e, Arg::sequence_number).value_or(-1), -1);
}

EventId ForwardLinks::forward(i64 node) const {
  const auto known = nodes_.find(node);
  return known == nodes_.end() ? kNone : known->second.forward;
}

}  // namespace spotter::trace
