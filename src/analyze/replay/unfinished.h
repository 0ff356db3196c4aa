// What had not ended when a recording did: calls of each group of processes, and spans of the host.
#pragma once
#include "analyze/replay/skeleton.h"
#include "trace/trace.h"

namespace spotter::analyze {

// Adds rows of SkeletonOp::open_span, those of a thread outermost first. Reads Arg::finished.
void add_open_spans(const Trace& trace, Skeleton& skeleton);
// Adds rows of SkeletonOp::last_call, one for each group. Calls are counted by the operators
// record_param_comms that have ended, those that have ended by their kernels. Reads kCollectiveCallArgs and
// Arg::finished.
void add_last_calls(const Trace& trace, Skeleton& skeleton);

}  // namespace spotter::analyze
