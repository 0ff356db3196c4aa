// Collectives of which traces do not say the group: PyTorch before 2.4. All ranks of a call see it end at one
// time.
#pragma once
#include "analyze/replay/job_program.h"

namespace spotter::analyze {

// Whether a group of a call is only the stream that it ran on, since the trace does not say whose the call
// is.
inline bool is_unnamed(std::string_view group) { return group.starts_with("stream "); }

// The same of a row of SkeletonOp::collective.
bool is_unnamed(const RankProgram& rank, const SkeletonRow& row);

// Adds calls and members for them, by the clocks as they are set. Streams of ranks are one group where four
// fifths of the ends of one are ends of the other; a call is what ends together in a group.
void match_unnamed_calls(JobProgram& job);

}  // namespace spotter::analyze
