#include "analyze/launches/launching_operators.h"

#include "trace/nesting.h"
#include "trace/per_kind.h"

namespace spotter::analyze {

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

}  // namespace spotter::analyze
