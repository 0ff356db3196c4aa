// Effects: what a job's faults cost it, by running its first pass anew with fewer of them.
#pragma once
#include "simulate/schedule.h"

namespace spotter::simulate {

using JobSteps = std::vector<Ns>;  // Schedule::job_steps

struct FaultEffect {
  std::vector<std::vector<Ns>> steps_without;  // by rank, of the job with all other faults
  JobSteps job_without, job_with_it_alone;     // with all other faults; with no other
};

struct Effects {
  JobSteps job, job_without_faults;
  std::vector<FaultEffect> faults;
};

// `plan`: of the job with all. Errors: as schedule().
Result<Effects> effects_of(const Job& job, const Schedule& plan);

}  // namespace spotter::simulate
