// Stages whose ranks have work of unequal size, other in each step: no device and no step is to blame.
#pragma once
#include "diagnose/mechanisms/level_shifts.h"
#include "diagnose/model/job_model.h"

namespace spotter::diagnose {

// The stages, but those of one or two ranks, which are too few to be told apart from what they share, as one.
std::vector<std::vector<u32>> comparable_ranks(const JobModel& model);

// By the job's steps: how many times as long as the cells' reference the median of these ranks takes, and
// once at least.
std::vector<double> shared_factors(const JobModel& model, const std::vector<u32>& ranks);

// Ranks whose device time varies from step to step beyond what the stage shares and what its clocks' levels
// do: by more than 1 % (standard deviation) and four standard errors. Empty unless they are three or more,
// and 30 % of the stage.
std::vector<u32> varying_ranks(const JobModel& model, const std::vector<u32>& stage,
                               const std::vector<RankShift>& shifts);

// A factor that no size of work explains, given how those of the stage's ranks and steps vary: Tukey's outer
// limit, the upper quartile and 3 times the distance of the quartiles. Such a step is long by itself.
double outer_limit(const JobModel& model, const std::vector<u32>& stage);

}  // namespace spotter::diagnose
