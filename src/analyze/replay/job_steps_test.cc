#include "analyze/replay/job_steps.h"

#include <gtest/gtest.h>

#include <utility>

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

JobProgram job_of(RankProgram first, RankProgram second) {
  JobProgram job;
  job.ranks.push_back(std::move(first));
  job.ranks.push_back(std::move(second));
  align_steps(job);
  return job;
}

TEST(JobSteps, ThoseOfOptimizersAreOneByTheirEnds) {
  const JobProgram job = job_of(rank_of({0, 100, 200, 300}), rank_of({150, 202, 301, 400}));
  EXPECT_EQ(job.ranks[0].job_steps, (std::vector<u32>{0, 1, 2}));
  EXPECT_EQ(job.ranks[1].job_steps, (std::vector<u32>{1, 2, 3}));
  EXPECT_EQ(job.step_numbers, (std::vector<i64>{0, 1, 2, 3}));
}

TEST(JobSteps, WhoseClocksAreApartAreOneByNumber) {
  const JobProgram job = job_of(rank_of({0, 100, 200, 300}), rank_of({1040, 1140, 1240, 1340}));
  EXPECT_EQ(job.ranks[1].job_steps, (std::vector<u32>{0, 1, 2}));
}

TEST(JobSteps, NumbersThatTheProgramGivesCount) {
  const JobProgram job = job_of(rank_of({0, 100, 200, 300}, false), rank_of({150, 202, 301, 400}, false));
  EXPECT_EQ(job.ranks[1].job_steps, (std::vector<u32>{0, 1, 2}));
}

// One program says where it is, another counts from its start.
TEST(JobSteps, WhoSharesNoNumberWithOthersIsOneByPlace) {
  RankProgram other = rank_of({0, 100, 200, 300}, false);
  for (i64& number : other.step_numbers) number += 100;
  const JobProgram job = job_of(rank_of({0, 100, 200, 300}, false), std::move(other));
  EXPECT_EQ(job.ranks[1].job_steps, (std::vector<u32>{0, 1, 2}));
  EXPECT_EQ(job.step_numbers, (std::vector<i64>{0, 1, 2}));
}

TEST(JobSteps, OtherMarksThanMostRanksHaveCountByPlace) {
  JobProgram job;
  for (int i = 0; i < 2; ++i) {
    job.ranks.push_back(rank_of({0, 100, 200, 300}, false));
    for (i64& number : job.ranks.back().step_numbers) number += 2;
  }
  job.ranks.push_back(rank_of({0, 100, 200, 300}));
  align_steps(job);
  EXPECT_EQ(job.ranks[2].job_steps, (std::vector<u32>{0, 1, 2}));
  EXPECT_EQ(job.step_numbers, (std::vector<i64>{2, 3, 4}));
}

}  // namespace
}  // namespace spotter::analyze
