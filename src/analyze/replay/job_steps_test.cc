#include "analyze/replay/job_steps.h"

#include <gtest/gtest.h>

namespace spotter::analyze {
namespace {

// Whose steps begin, and whose last one ends, at these times.
RankProgram rank_of(std::vector<Ns> times, bool are_by_optimizer = true) {
  RankProgram rank;
  rank.are_by_optimizer = are_by_optimizer;
  for (u32 s = 0; s < times.size(); ++s) {
    rank.skeleton.rows.push_back({.op = SkeletonOp::step, .at = times[s]});
    rank.step_rows.push_back(s);
    if (s + 1 < times.size()) rank.step_numbers.push_back(s);
  }
  return rank;
}

TEST(JobSteps, ThoseOfOptimizersAreOneByTheirEnds) {
  JobProgram job;
  job.ranks = {rank_of({0, 100, 200, 300}), rank_of({150, 202, 301, 400})};
  align_steps(job);
  EXPECT_EQ(job.ranks[0].job_steps, (std::vector<u32>{0, 1, 2}));
  EXPECT_EQ(job.ranks[1].job_steps, (std::vector<u32>{1, 2, 3}));
  EXPECT_EQ(job.step_numbers, (std::vector<i64>{0, 1, 2, 3}));
}

TEST(JobSteps, WhoseClocksAreApartAreOneByNumber) {
  JobProgram job;
  job.ranks = {rank_of({0, 100, 200, 300}), rank_of({1040, 1140, 1240, 1340})};
  align_steps(job);
  EXPECT_EQ(job.ranks[1].job_steps, (std::vector<u32>{0, 1, 2}));
}

TEST(JobSteps, NumbersThatTheProgramGivesCount) {
  JobProgram job;
  job.ranks = {rank_of({0, 100, 200, 300}, false), rank_of({150, 202, 301, 400}, false)};
  align_steps(job);
  EXPECT_EQ(job.ranks[1].job_steps, (std::vector<u32>{0, 1, 2}));
}

}  // namespace
}  // namespace spotter::analyze
