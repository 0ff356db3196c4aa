// The skeleton of a rank without device work: its host is what computes. Operators of the main thread are the
// work, spans of backends that work on the host (gloo:...) the calls, and where the main thread is in no
// operator until such a call ends, it waits for it.
#pragma once
#include "analyze/replay/skeleton.h"
#include "trace/trace.h"

namespace spotter::analyze {

// Reads kSkeletonArgs. Without operators the answer has no rows.
Skeleton build_host_skeleton(const Trace& trace);

}  // namespace spotter::analyze
