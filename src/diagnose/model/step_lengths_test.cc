#include "diagnose/model/step_lengths.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace spotter::diagnose {
namespace {

using analyze::JobProgram;
using analyze::RankProgram;

// When the host comes to each step, and behind the last one; and when what was launched until then is done.
// `work`: of the device in each step.
RankProgram rank_of(const std::vector<std::pair<Ns, Ns>>& marks, const std::vector<Ns>& work = {}) {
  RankProgram rank;
  for (u32 s = 0; s < marks.size(); ++s) {
    const auto [at, done] = marks[s];
    rank.step_rows.push_back(static_cast<u32>(rank.skeleton.rows.size()));
    rank.skeleton.rows.push_back({.op = analyze::SkeletonOp::step, .at = at, .start = at, .end = done});
    if (s + 1 == marks.size()) continue;
    if (s < work.size()) rank.skeleton.rows.push_back({.op = analyze::SkeletonOp::run, .device = work[s]});
    rank.step_numbers.push_back(s);
    rank.job_steps.push_back(s);
  }
  return rank;
}

JobProgram job_of(auto... ranks) {
  JobProgram job;
  (job.ranks.push_back(std::move(ranks)), ...);
  job.step_numbers = job.ranks.at(0).step_numbers;
  return job;
}

TEST(StepLengths, OfAHostThatWaits) {
  const StepFacts steps = steps_of_job(job_of(rank_of({{0, 0}, {100, 99}, {200, 200}, {330, 330}})));
  EXPECT_EQ(steps.count, 3);
  EXPECT_EQ(steps.mean, 110);
  EXPECT_NEAR(steps.deviation, 14.14 / 110, 0.001);
}

// Its device catches up in each second step, and nothing is left at the end.
TEST(StepLengths, OfAHostThatWaitsInTheEndItIsTheHosts) {
  const StepFacts steps = steps_of_job(job_of(rank_of({{0, 0}, {100, 160}, {210, 210}})));
  EXPECT_EQ(steps.mean, 105);
  EXPECT_NEAR(steps.deviation, 5.0 / 105, 1e-9);
}

// The last step's work is not all of what the host had ahead.
TEST(StepLengths, OfAHostThatRunsAheadItIsTheDevices) {
  const StepFacts steps = steps_of_job(job_of(rank_of({{0, 0}, {10, 100}, {20, 200}, {30, 300}})));
  EXPECT_EQ(steps.mean, 100);
  EXPECT_EQ(steps.deviation, 0);
}

// It waited for other ranks, which began later.
TEST(StepLengths, AFirstStepThatWaitsForNoMoreWorkIsNoneOfThem) {
  const StepFacts steps = steps_of_job(job_of(rank_of({{0, 0}, {10, 250}, {20, 350}, {30, 450}})));
  EXPECT_EQ(steps.mean, 100);
  EXPECT_EQ(steps.count, 3);
  EXPECT_TRUE(steps.without_first);
  EXPECT_EQ(recorded_a_step(job_of(rank_of({{0, 0}, {10, 250}, {20, 350}, {30, 450}}))), 150);
  // It had more to do.
  const std::vector<std::pair<Ns, Ns>> marks = {{0, 0}, {10, 250}, {20, 350}, {30, 450}};
  EXPECT_EQ(steps_of_job(job_of(rank_of(marks, {90, 85, 90}))).mean, 100);
  EXPECT_EQ(steps_of_job(job_of(rank_of(marks, {240, 85, 90}))).mean, 150);
  // It waited for a batch: nothing lags behind the host.
  EXPECT_EQ(steps_of_job(job_of(rank_of({{0, 0}, {250, 255}, {350, 355}, {450, 450}}))).mean, 150);
}

TEST(StepLengths, AStepOfTheJobEndsWithTheLastOfItsRanks) {
  const JobProgram job =
      job_of(rank_of({{0, 0}, {10, 100}, {20, 200}}), rank_of({{5, 5}, {15, 120}, {25, 190}}));
  EXPECT_EQ(steps_of_job(job).mean, 100);
  EXPECT_NEAR(steps_of_job(job).deviation, 0.2, 1e-9);
  EXPECT_EQ(steps_of_ranks(job).mean, (100 + 100 + 115 + 70) / 4);
}

TEST(StepLengths, OfNothing) {
  EXPECT_EQ(steps_of_job({}).mean, 0);
  EXPECT_EQ(steps_of_ranks(job_of(rank_of({{7, 7}}))).count, 0);
}

}  // namespace
}  // namespace spotter::diagnose
