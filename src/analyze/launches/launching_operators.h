// Launching operators: which operator the launches of a trace, and its other host spans, lie in.
#pragma once
#include <vector>

#include "trace/trace.h"

namespace spotter::analyze {

// Per event of a host thread: the innermost operator around it on its thread, or kNone. An operator is not
// around itself, so that the operators around an event are around[e], around[around[e]] and so on.
std::vector<EventId> operators_around(const Trace& trace);

// The same, but of calls into the device's runtime or driver the operator that the profiler says made them
// (External id), where that is around the call give or take a microsecond: old traces are in whole ones, so
// that a call may seem to begin before its operator does, or to belong to the one behind. PyTorch 1.12 to 2.1
// wrote other numbers there, of which time tells that they are wrong. Reads Arg::external_id.
std::vector<EventId> calling_operators(const Trace& trace);

}  // namespace spotter::analyze
