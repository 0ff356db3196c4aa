// Launch links: device work -> the host call that started it, by equal `correlation` > 0. One launch may
// start many device rows (CUDA and HIP graphs); a row has at most one launch: the earliest host call if
// several share the number.
#pragma once
#include <vector>

#include "trace/trace.h"

namespace spotter::trace {

struct LaunchLinks {
  std::vector<EventId> device;     // every device-work row, ascending
  std::vector<EventId> launch;     // its host call (a span of category runtime or driver), or kNone
  i64 unlaunched = 0;              // rows with no launch
  i64 duplicate_correlations = 0;  // host calls whose correlation another one has already
  i64 of_other_processes = 0;      // of these, in another process than that one: each counts from 1
};

// Reads Arg::correlation.
LaunchLinks compute_links(const Trace& trace);

}  // namespace spotter::trace
