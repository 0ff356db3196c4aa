// Stages: which ranks do the same work. Of a pipeline those that are as many transfers from its beginning;
// of other jobs all.
#pragma once
#include <vector>

#include "analyze/replay/job_program.h"

namespace spotter::diagnose {

struct Stages {
  std::vector<u32> of;                  // per rank of the program
  std::vector<std::vector<u32>> ranks;  // per stage
  bool are_unclear = false;             // there are sends, but the traces do not say to whom
  bool is_pipeline() const { return ranks.size() > 1; }
};

Stages stages_of(const analyze::JobProgram& job);

}  // namespace spotter::diagnose
