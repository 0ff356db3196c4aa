// Collectives of which traces do not say the group: PyTorch before 2.4. All ranks of a call see it end at one
// time.
#pragma once
#include "analyze/replay/job_program.h"

namespace spotter::analyze {

// Whether the trace does not say whose call a row of SkeletonOp::collective is.
bool is_unnamed(const RankProgram& rank, const SkeletonRow& row);

// Adds calls and members for them, by the clocks as they are set. Streams of ranks are one group where four
// fifths of the ends of one are ends of the other, to 10 µs; a call is what ends together in a group.
void match_unnamed_calls(JobProgram& job);

}  // namespace spotter::analyze
