// Which rows of different ranks are one call, and what of it is transfer.
#pragma once
#include "analyze/replay/job_program.h"

namespace spotter::analyze {

// Fills in calls and members. Collectives belong together by their group and number, where the trace does not
// number them by the job's step and their place in it; a send and its receive by both ranks, the step and
// their place. What comes again under one number (a trace of two runs) is told apart by how often it has
// come. Those of which the trace does not say whose they are, unnamed_calls.h and exchanges.h match.
void match_calls(JobProgram& job);

// Sets how long calls transfer, by the clocks as they are set. Sends are eager if one of them ended before
// its receive began.
void set_transfers(JobProgram& job);

}  // namespace spotter::analyze
