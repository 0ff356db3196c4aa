// The steps of a job as a whole: one begins when its first rank begins it and ends when the next one begins,
// the last one when the last rank has finished. They tile the job.
#pragma once
#include <vector>

#include "analyze/replay/job_program.h"
#include "analyze/replay/replay.h"

namespace spotter::analyze {

struct JobStep {
  i64 number;  // as the marks say
  Ns start, end;
  Ns length() const { return end - start; }
};

// In the order of JobProgram::step_numbers. The same steps in both.
std::vector<JobStep> measured_steps(const JobProgram& job);
std::vector<JobStep> replayed_steps(const JobProgram& job, const Replayed& played);

}  // namespace spotter::analyze
