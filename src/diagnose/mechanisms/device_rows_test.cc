#include "diagnose/mechanisms/device_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyze/replay/skeleton_table.h"
#include "base/time.h"
#include "diagnose/search.h"

namespace spotter::diagnose {
namespace {

// How many times as long as it should a rank's device takes in a step; 0: nothing was recorded of it.
using Factors = std::vector<std::vector<double>>;

// Four ranks on a host.
constexpr size_t kOfHost = 4;

// A job of one stage whose ranks compute for 90 ms a step, in kernels of three kinds, and meet at its end.
JobModel job_of(const Factors& ranks) {
  constexpr Ns kWork = 90 * kMillisecond, kTransfer = 10 * kMillisecond, kLaunch = kMillisecond / 100;
  std::vector<RankTable> tables;
  for (size_t r = 0; r < ranks.size(); ++r) {
    analyze::Skeleton rank;
    const StringId host = rank.strings.intern("n" + std::to_string(r / kOfHost)),
                   call = rank.strings.intern("all_reduce"), group = rank.strings.intern("0 [0, 1]");
    Ns now = 0;
    for (size_t s = 0; s < ranks[r].size(); ++s) {
      double slowest = 0;
      for (const std::vector<double>& of_rank : ranks) slowest = std::max(slowest, of_rank[s]);
      const auto time = [&](double factor) { return static_cast<Ns>(factor * static_cast<double>(kWork)); };
      const Ns own = time(ranks[r][s]), end = now + time(slowest) + kTransfer;
      const auto number = static_cast<i64>(s + 1);
      rank.add({.op = analyze::SkeletonOp::step, .group = host, .at = now, .number = number});
      rank.add({.op = analyze::SkeletonOp::run,
                .stream = 0,
                .at = now,
                .host = kLaunch,
                .device = own,
                .count = 3},
               std::vector<analyze::HullPoint>{{0, own}});
      rank.add({.op = analyze::SkeletonOp::collective,
                .name = call,
                .group = group,
                .stream = 0,
                .at = now + kLaunch,
                .start = now + own,
                .end = end,
                .number = number},
               std::vector<analyze::HullPoint>{{}});
      const Ns scatter = own / 1000;  // of kinds, as the rank's factor
      for (const auto& [kind, off] : {std::pair(1, scatter), std::pair(2, Ns{0}), std::pair(3, -scatter)})
        if (own > 0)
          rank.add({.op = analyze::SkeletonOp::work, .device = own / 3 + off, .count = 1, .number = kind});
      now = end;
    }
    rank.add({.op = analyze::SkeletonOp::end, .at = now, .start = now, .end = now});
    tables.push_back({static_cast<i64>(r), std::to_string(r), analyze::skeleton_table(std::move(rank))});
  }
  return JobModel(analyze::make_program(std::move(tables)));
}

Factors healthy(size_t ranks = 8, size_t steps = 8) {
  Factors factors(ranks, std::vector<double>(steps, 1));
  for (size_t r = 0; r < ranks; ++r)
    for (size_t s = 0; s < steps; ++s) factors[r][s] += 0.001 * static_cast<double>((r + 3 * s) % 5);
  return factors;
}

void slow_down(Factors& factors, size_t rank, size_t first, size_t end, double factor) {
  for (size_t s = first; s < end; ++s) factors[rank][s] *= factor;
}

struct Told {
  std::string mechanism;
  std::vector<u32> ranks;
  std::string what;
  double share;
  std::string against;
};

std::vector<Told> faults_of(const Factors& factors) {
  const JobModel model = job_of(factors);
  std::vector<Told> told;
  for (const Found& found : search(model, 0.02))
    if (const Candidate& c = found.candidate; !c.is_opportunity && !c.is_caveat)
      told.push_back({found.mechanism->name, c.ranks, c.what, found.share, c.against});
  return told;
}

// Of the time of a job how much it loses, as the slowest of its ranks say.
double loss_of(const Factors& factors) {
  double lost = 0, whole = 0;
  for (size_t s = 0; s < factors[0].size(); ++s) {
    double slowest = 0;
    for (const std::vector<double>& of_rank : factors) slowest = std::max(slowest, of_rank[s]);
    lost += 90 * (slowest - 1);
    whole += 90 * slowest + 10;
  }
  return lost / whole;
}

TEST(DeviceRows, AHealthyJobHasNoFault) {
  for (const size_t ranks : {1, 2, 3, 8}) EXPECT_TRUE(faults_of(healthy(ranks)).empty()) << ranks;
}

TEST(DeviceRows, HalfOfAJobWhoseClocksDropIsNamed) {
  Factors factors = healthy();
  for (size_t r = 4; r < 8; ++r) slow_down(factors, r, 3, 8, 1.3);
  const std::vector<Told> told = faults_of(factors);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].mechanism, "clock_drop");
  EXPECT_EQ(told[0].ranks, (std::vector<u32>{4, 5, 6, 7}));
  EXPECT_TRUE(told[0].what.starts_with("Ranks 4-7 (host n1) compute 30 % longer from step 4 ("))
      << told[0].what;
  EXPECT_TRUE(told[0].what.ends_with(" on than their peers, and no longer before")) << told[0].what;
  EXPECT_NEAR(told[0].share, loss_of(factors), 0.01);
}

TEST(DeviceRows, OfMostOfAJobTheOthersAreNotNamed) {
  for (const size_t slow : {5, 6, 7}) {
    Factors factors = healthy();
    std::vector<u32> ranks;
    for (u32 r = 0; r < slow; ++r) {
      slow_down(factors, r, 3, 8, 1.3);
      ranks.push_back(r);
    }
    const std::vector<Told> told = faults_of(factors);
    ASSERT_EQ(told.size(), 1u) << slow;
    EXPECT_EQ(told[0].mechanism, "clock_drop");
    EXPECT_EQ(told[0].ranks, ranks) << told[0].what;
    EXPECT_NEAR(told[0].share, loss_of(factors), 0.01);
  }
}

TEST(DeviceRows, ClocksThatDropTogetherAreOneFindingAndThoseThatDoNotAreSeveral) {
  Factors factors = healthy();
  slow_down(factors, 5, 5, 8, 1.5);
  slow_down(factors, 6, 5, 8, 1.5);
  slow_down(factors, 7, 6, 8, 1.45);
  std::vector<Told> told = faults_of(factors);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].ranks, (std::vector<u32>{5, 6, 7}));
  EXPECT_TRUE(told[0].against.empty()) << told[0].against;
  factors = healthy();
  slow_down(factors, 2, 3, 8, 1.5);
  slow_down(factors, 6, 6, 8, 1.5);
  told = faults_of(factors);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].ranks.size(), 1u);
  EXPECT_EQ(told[1].ranks.size(), 1u);
}

TEST(DeviceRows, WhatAllHaveIsLeftOutOfWhatOneHas) {
  Factors factors = healthy();
  for (size_t r = 0; r < 8; ++r) slow_down(factors, r, 3, 8, 1.05);
  slow_down(factors, 3, 3, 8, 1.5);
  const std::vector<Told> told = faults_of(factors);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].mechanism, "clock_drop");
  EXPECT_EQ(told[0].ranks, std::vector<u32>{3});
  EXPECT_NE(told[0].what.find("computes 50 % longer"), std::string::npos) << told[0].what;
  EXPECT_EQ(told[1].mechanism, "clock_drop");
  EXPECT_EQ(told[1].ranks.size(), 8u);
  EXPECT_NE(told[1].what.find("Every rank computes 5.1 % longer"), std::string::npos) << told[1].what;
  EXPECT_NEAR(told[0].share + told[1].share, loss_of(factors), 0.01);
  EXPECT_NEAR(told[1].share, 0.03, 0.01);  // 5 % of the work of five steps of eight
}

TEST(DeviceRows, ADeviceThatIsSlowUnevenlyIsTold) {
  Factors at_times = healthy(8, 10), heats_up = healthy();
  slow_down(at_times, 3, 1, 4, 1.3);
  slow_down(at_times, 3, 5, 10, 1.3);
  for (size_t s = 0; s < 8; ++s) heats_up[3][s] *= 1.1 + 0.1 * static_cast<double>(s / 2);
  const std::vector<Told> told[] = {faults_of(at_times), faults_of(heats_up)};
  for (const std::vector<Told>& one : told) {
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(one[0].mechanism, "slow_device");
    EXPECT_EQ(one[0].ranks, std::vector<u32>{3});
    EXPECT_NE(one[0].against.find("varies from step to step"), std::string::npos) << one[0].against;
  }
  EXPECT_EQ(told[0][0].what,
            "Rank 3 (host n0) computes 30 % longer for the same work than the 7 others in 8 of 10 steps");
  EXPECT_EQ(told[1][0].what,
            "Rank 3 (host n0) computes 10-40 % longer for the same work than the 7 others in all 8 steps");
  EXPECT_NEAR(told[0][0].share, loss_of(at_times), 0.01);
  EXPECT_NEAR(told[1][0].share, loss_of(heats_up), 0.01);
}

TEST(DeviceRows, StepsThatAllRanksFindLongAreNoRanksFault) {
  Factors factors = healthy(8, 10);
  for (const size_t s : {1, 4, 5, 8})
    for (size_t r = 0; r < 8; ++r) slow_down(factors, r, s, s + 1, 1.2);
  for (const Told& one : faults_of(factors)) EXPECT_NE(one.mechanism, "slow_device") << one.what;
}

TEST(DeviceRows, WorkThatIsUnevenOnTwoRanksIsNeithersFault) {
  Factors factors = healthy(2, 10);
  for (size_t s = 0; s < 10; ++s)
    slow_down(factors, s % 3 == 0 ? 1 : 0, s, s + 1, 1.1 + 0.05 * static_cast<double>(s % 4));
  for (const Told& one : faults_of(factors)) EXPECT_NE(one.mechanism, "slow_device") << one.what;
}

TEST(DeviceRows, UnevenWorkStaysUnevenWork) {
  Factors factors = healthy();
  for (size_t r = 0; r < 8; ++r)
    for (size_t s = 0; s < 8; ++s)
      factors[r][s] *= 1 + 0.05 * static_cast<double>((5 * r + 3 * s + r * s) % 7);
  const std::vector<Told> told = faults_of(factors);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told[0].mechanism, "uneven_work") << told[0].what;
}

TEST(DeviceRows, AFirstStepWithoutWorkIsNoStepThatWasFast) {
  Factors factors = healthy();
  slow_down(factors, 3, 0, 8, 1.3);
  factors[3][0] = 0;
  const std::vector<Told> told = faults_of(factors);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].mechanism, "slow_device") << told[0].what;
}

}  // namespace
}  // namespace spotter::diagnose
