// Ranks that were recorded at another time than the others: a file of yesterday, a second capture, a
// launcher's that ended long before. They wait for nobody, and nobody for them.
#pragma once
#include "analyze/replay/job_program.h"

namespace spotter::analyze {

// Takes those whose steps and calls overlap with none of most ranks' out of the job, by the clocks as they
// are set, and says so in its notes. Whether there were any: what joins ranks is to be found anew then.
bool leave_out_apart(JobProgram& job);

}  // namespace spotter::analyze
