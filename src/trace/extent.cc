#include "trace/extent.h"

#include <algorithm>

#include "trace/per_kind.h"

namespace spotter::trace {

Extent extent_of(const Trace& trace) {
  const auto counts =
      per_kind(trace, [](const Kind& kind) { return kind.is_span && kind.category != Category::trace_span; });
  Extent extent;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (!counts[trace.kind[e]]) continue;
    ++extent.spans;
    extent.start = std::min(extent.start, trace.ts[e]);
    extent.end = std::max(extent.end, trace.end(e));
  }
  return extent;
}

std::optional<Ns> recorded_until(const Trace& trace) {
  const auto counts =
      per_kind(trace, [](const Kind& kind) { return kind.is_span && kind.category == Category::trace_span; });
  std::optional<Ns> end;
  for (EventId e = 0; e < trace.size(); ++e)
    if (counts[trace.kind[e]]) end = std::max(end.value_or(trace.end(e)), trace.end(e));
  return end;
}

}  // namespace spotter::trace
