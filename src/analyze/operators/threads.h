// Which threads of a training process do what.
#pragma once
#include <vector>

#include "trace/trace.h"

namespace spotter::analyze {

// The thread (track) of the steps' marks; without them the one that is longest inside spans; kNone in a trace
// without host spans. Reads kStepArgs (trace/steps.h).
u32 main_track(const Trace& trace);

// Threads that run backward operators: those at which autograd's flows end, those that have its marks, and
// those whose operators tell the thread of their forward operator: before 1.10 there were no such flows and
// marks. Ascending; the main thread may be among them. Reads Arg::fwd_thread_id.
std::vector<u32> autograd_tracks(const Trace& trace);

}  // namespace spotter::analyze
