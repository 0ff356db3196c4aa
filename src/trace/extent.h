// Extent: when the spans of a trace run, without the profiler's own (category Trace).
#pragma once
#include <limits>
#include <optional>

#include "trace/trace.h"

namespace spotter::trace {

struct Extent {
  i64 spans = 0;
  Ns start = std::numeric_limits<Ns>::max(), end = std::numeric_limits<Ns>::min();
  bool known() const { return start <= end; }
};

Extent extent_of(const Trace& trace);

// When the recording ended, as the profiler's own span says; none: it has none.
std::optional<Ns> recorded_until(const Trace& trace);

}  // namespace spotter::trace
