// Which steps of different ranks are one step of the job.
#pragma once
#include "analyze/replay/job_program.h"

namespace spotter::analyze {

// Fills in job_steps and step_numbers. Captures that begin by the clock begin with one step on one rank and
// with the next on another, so steps are the same by their numbers; where a rank's do not ascend, or ranks
// share none or too few of them to count alike, by their place in the recording, as those of a rank are that
// has other marks than most.
void align_steps(JobProgram& job);

}  // namespace spotter::analyze
