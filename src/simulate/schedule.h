// Schedule: the first pass. All ranks run at once, each as far as it can, until every collective has its end.
#pragma once
#include "base/result.h"
#include "simulate/machine.h"

namespace spotter::simulate {

struct Schedule {
  Rendezvous rendezvous;               // settled
  Ns stop = kNever;                    // where a rank hangs: when recording stops
  std::vector<std::vector<Ns>> steps;  // durations by rank, of those that ended
  // Of the job, of those that ended on all ranks: from the end of the step before on its last rank (the job's
  // begin) to the end on the last.
  std::vector<Ns> job_steps;
};

// Errors: invalid (it would last longer than 73 years, kNever), cancelled.
Result<Schedule> schedule(const Job& job);

}  // namespace spotter::simulate
