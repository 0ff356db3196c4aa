// Matching: which runs on different ranks are the same collective.
#pragma once
#include <vector>

#include "analyze/job/collectives.h"

namespace spotter::analyze {

// A rank's run of a collective. Times are held to those of traces (see kMaxTime), so that no difference of
// two overflows.
struct Run {
  u32 group = 0, name = 0;  // equal for equal texts
  i64 sequence = kNoSequence;
  size_t part = 0;  // whose it is
  Ns start = 0, end = 0;
  size_t collective = 0;  // which it is a run of; the answer
};

// Fills in `collective` and sorts: the runs of a collective become neighbours, by start and then by part. It
// has at most one run of each part.
//
// Only runs of the same group, name and sequence number match. Those that have such a number do so one by
// one, by start (coalesced calls share a number). Of the others, a run belongs to the first collective whose
// runs have all not ended when it starts, and that has none of its part yet: none ends before the last has
// begun. Their order in the files would not do, as files may begin at different collectives.
void match(std::vector<Run>& runs);

}  // namespace spotter::analyze
