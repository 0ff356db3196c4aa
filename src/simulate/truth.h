// truth.json: what a simulated job is and what was put into it, for whoever tests a tool against it.
#pragma once
#include "simulate/job.h"
#include "simulate/tally.h"

namespace spotter::sim {

// One fault: how long each step took without it, by rank.
using StepsWithout = std::vector<std::vector<Ns>>;

std::string truth_text(const Job& job, const std::vector<std::string>& files,
                       const std::vector<RankNumbers>& ranks, const std::vector<StepsWithout>& without);

}  // namespace spotter::sim
