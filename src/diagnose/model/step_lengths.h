// StepLengths: how long steps take, as they were measured. A host may run ahead of its device: what a step
// takes is then the time from the end of the work of the one before to the end of its own. Where the host's
// own marks are steadier they count.
#pragma once
#include "analyze/replay/job_program.h"
#include "diagnose/job_facts.h"

namespace spotter::diagnose {

// Of all ranks together: a step ends when the last of them has done its work.
StepFacts steps_of_job(const analyze::JobProgram& job);
// All that was recorded of the job, over its steps.
Ns recorded_a_step(const analyze::JobProgram& job);
// Each rank's own: of recordings of several times.
StepFacts steps_of_ranks(const analyze::JobProgram& job);

}  // namespace spotter::diagnose
