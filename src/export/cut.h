// Which events of a trace are exported.
#pragma once
#include <optional>
#include <vector>

#include "analyze/run.h"
#include "trace/trace.h"
#include "trace/windows.h"

namespace spotter::export_ {

struct Cut {
  std::optional<analyze::Range> steps;
  std::optional<trace::Window> window;  // on the trace's own clock, as its column ts
  bool everything() const { return !steps && !window; }
};

// The rows of these steps and this window (rows_in, trace/windows.h), ascending. But arrows (flow events) are
// judged by what they connect: all events of one are here where each of them lies in a span that is, else
// none. Reads Arg::correlation and flow_id. Errors: invalid (the trace does not have these steps).
Result<std::vector<EventId>> rows_of(const Trace& trace, const Cut& cut);

}  // namespace spotter::export_
