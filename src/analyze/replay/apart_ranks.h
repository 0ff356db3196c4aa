// Ranks that were recorded at another time than the others: a file of yesterday, a second capture, a
// launcher's that ended long before. They wait for nobody, and nobody for them.
#pragma once
#include "analyze/replay/job_program.h"

namespace spotter::analyze {

// Takes them out of the job, by the times of their files, and says so in its notes. Of a host, whose clock is
// one, those whose steps and calls overlap with none of most of its ranks'; a host all of whose times are
// others may have another clock, and stays. Of what names no host, what is a minute from all others, where
// most of these are together.
void leave_out_apart(JobProgram& job);

}  // namespace spotter::analyze
