#include "analyze/launches/launching_operators.h"

#include <unordered_map>

#include "trace/nesting.h"
#include "trace/per_kind.h"

namespace spotter::analyze {
namespace {

constexpr Ns kResolution = 1'000;

bool is_around(const Trace& trace, EventId op, EventId call) {
  return trace.track[op] == trace.track[call] && trace.ts[op] <= trace.ts[call] + kResolution &&
         trace.end(call) <= trace.end(op) + kResolution;
}

}  // namespace

std::vector<EventId> operators_around(const Trace& trace) {
  const trace::Nesting& nesting = trace.nesting();
  const auto is_operator =
      trace::per_kind(trace, [](const Kind& k) { return k.category == Category::cpu_op; });
  std::vector<EventId> around(trace.size(), kNone);
  for (const trace::Nesting::Thread& thread : nesting.threads) {
    for (u32 i = thread.begin; i < thread.end; ++i) {
      if (nesting.parent[i] == kNone) continue;
      const EventId parent = nesting.order[nesting.parent[i]];
      around[nesting.order[i]] = is_operator[trace.kind[parent]] ? parent : around[parent];
    }
  }
  return around;
}

std::vector<EventId> calling_operators(const Trace& trace) {
  std::vector<EventId> around = operators_around(trace);
  const trace::Nesting& nesting = trace.nesting();
  std::unordered_map<i64, EventId> operators;
  for (const EventId e : nesting.order) {
    if (trace.category(e) != Category::cpu_op) continue;
    if (const auto id = trace.integer(e, Arg::external_id); id && *id != 0) operators.try_emplace(*id, e);
  }
  for (const EventId e : nesting.order) {
    if (!is_host_call(trace.category(e))) continue;
    const auto id = trace.integer(e, Arg::external_id);
    const auto op = id ? operators.find(*id) : operators.end();
    if (op != operators.end() && is_around(trace, op->second, e)) around[e] = op->second;
  }
  return around;
}

}  // namespace spotter::analyze
