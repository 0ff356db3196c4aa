// Scenario: with which times a job is run again. Made of a job as it was measured; what a question changes,
// its asker sets.
#pragma once
#include <vector>

#include "analyze/replay/job_program.h"

namespace spotter::analyze {

struct Scenario {
  explicit Scenario(const JobProgram& job);

  std::vector<Ns> host;        // per row of all ranks
  std::vector<Ns> transfer;    // per call
  std::vector<u8> is_skipped;  // per row of all ranks: a wait or sync that is not there, a run that takes the
                               // device no time
  std::vector<float> run;  // per row of all ranks, of a run's work and the time from its first call to the
                           // others; 1 as it was
  std::vector<double> device, host_factor;  // per step of all ranks, of device work and of all host time
  bool waits_for_absent = true;             // for ranks without a file
  double gaps = 1;                          // of the time between kernels that the launches do not explain
  double leads =
      1;  // of the time from a run's first call to each of its launches, as far as the host is at them
};

}  // namespace spotter::analyze
