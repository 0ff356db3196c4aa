// What had not ended when a recording did: calls of each group of processes, and spans of the host.
#pragma once
#include "analyze/replay/skeleton.h"
#include "trace/trace.h"

namespace spotter::analyze {

// Adds rows of SkeletonOp::last_call, one for each group, and of open_span, outermost first. Calls are
// counted by the operators record_param_comms that have ended, those that have ended by their kernels. Reads
// kCollectiveCallArgs and Arg::finished.
void add_unfinished(const Trace& trace, Skeleton& skeleton);

}  // namespace spotter::analyze
