// Clocks of hosts: what a rank's times are ahead of the job's. Ranks of one host share a clock; between hosts
// tell the calls that end on all members at once and, where hosts share none, sends in both directions, else
// what unnamed_clocks.h finds.
#pragma once
#include "analyze/replay/job_program.h"

namespace spotter::analyze {

// Sets RankProgram::clock; the first rank's host has the job's clock. Of hosts that nothing joins with it the
// clock is taken as it is.
void set_clocks(JobProgram& job);

}  // namespace spotter::analyze
