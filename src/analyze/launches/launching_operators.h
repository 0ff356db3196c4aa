// Launching operators: which operator the launches of a trace, and its other host spans, lie in.
#pragma once
#include <vector>

#include "trace/trace.h"

namespace spotter::analyze {

// Per event of a host thread: the innermost operator around it on its thread, or kNone. An operator is not
// around itself, so that the operators around an event are around[e], around[around[e]] and so on.
std::vector<EventId> operators_around(const Trace& trace);

}  // namespace spotter::analyze
