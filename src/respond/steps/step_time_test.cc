#include "respond/steps/step_time.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/saturated.h"
#include "respond/statistics/test_noise.h"

namespace spotter::respond {
namespace {

using Kind = StepTimeEvent::Kind;
using test::Noise;
using test::NoisySteps;

// Steps one after the other, each as long as it is said.
class Steps {
 public:
  explicit Steps(const StepTimeOptions& options = {}) : detector(options) {}

  // The events of `count` steps of so many seconds.
  std::vector<StepTimeEvent> add(i64 count, double seconds) {
    std::vector<StepTimeEvent> events;
    for (i64 i = 0; i < count; ++i) {
      const Ns took = std::llround(seconds * 1e9);
      now += took;
      if (const auto event = detector.add(Step{.step = ++step, .end = now, .took = took, .run = run}))
        events.push_back(*event);
    }
    return events;
  }

  StepTime detector;
  i64 step = 0, run = 0;
  Ns now = 0;
};

TEST(StepTime, BeginsWithTheSecondSlowBlock) {
  Steps steps;
  EXPECT_TRUE(steps.add(400, 1).empty());
  EXPECT_TRUE(steps.add(15, 1.2).empty());
  const auto began = steps.add(1, 1.2);
  ASSERT_EQ(began.size(), 1);
  EXPECT_EQ(began[0].kind, Kind::began);
  EXPECT_EQ(began[0].step, 401);
  EXPECT_EQ(began[0].since, 400 * kSecond);
  EXPECT_EQ(began[0].now, 1.2e9);
  EXPECT_EQ(began[0].baseline, 1e9);
  EXPECT_NEAR(began[0].spreads, 20, 1e-9);  // of 1 %, the least
  EXPECT_TRUE(steps.detector.is_slow());
}

TEST(StepTime, JudgesFromThe42ndBlockOn) {
  Steps steps;
  steps.add(40 * 8, 1);
  EXPECT_FALSE(steps.detector.baseline());
  EXPECT_TRUE(steps.add(8, 2).empty());  // the 41st
  const auto began = steps.add(16, 2);
  ASSERT_EQ(began.size(), 1);
  EXPECT_EQ(began[0].step, 41 * 8 + 1);
  EXPECT_EQ(steps.detector.baseline()->median, 1e9);
}

TEST(StepTime, TwoOfThreeBlocksAreEnoughAndTwoOfFourAreNot) {
  Steps near;
  near.add(400, 1);
  near.add(8, 1.2);
  near.add(8, 1);
  EXPECT_EQ(near.add(8, 1.2).size(), 1);
  Steps far;
  far.add(400, 1);
  far.add(8, 1.2);
  far.add(16, 1);
  EXPECT_TRUE(far.add(8, 1.2).empty());
}

TEST(StepTime, TenPercentIsTheLeast) {
  Steps below;
  below.add(400, 1);
  EXPECT_TRUE(below.add(160, 1.099).empty());
  Steps at;
  at.add(400, 1);
  EXPECT_EQ(at.add(160, 1.1).size(), 1);
}

TEST(StepTime, SensitiveTellsOfSevenPercent) {
  Steps usual, sensitive_ones(sensitive());
  usual.add(400, 1);
  sensitive_ones.add(400, 1);
  EXPECT_TRUE(usual.add(80, 1.08).empty());
  EXPECT_EQ(sensitive_ones.add(80, 1.08).size(), 1);
}

TEST(StepTime, FiveSpreadsOfTheBlocksAreTheLeast) {
  // Blocks by turns of 0.9, 1.0 and 1.1 s: the MAD is 0.1, s 0.148.
  const auto with = [](double slow) {
    Steps steps;
    for (int i = 0; i < 60; ++i) steps.add(8, 0.9 + 0.1 * (i % 3));
    return steps.add(16, slow).size();
  };
  EXPECT_EQ(with(1 + 4.9 * 0.14826), 0);
  EXPECT_EQ(with(1 + 5.1 * 0.14826), 1);
}

TEST(StepTime, RecoversAfterFourBlocksInSuccession) {
  Steps steps;
  steps.add(400, 1);
  steps.add(400, 1.3);
  steps.add(24, 1.04);
  EXPECT_TRUE(steps.add(8, 1.06).empty());  // slow no more, but not as before
  EXPECT_TRUE(steps.add(31, 1.04).empty());
  const auto recovered = steps.add(1, 1.04);
  ASSERT_EQ(recovered.size(), 1);
  EXPECT_EQ(recovered[0].kind, Kind::recovered);
  EXPECT_EQ(recovered[0].step, 400 + 400 + 32 + 1);
  EXPECT_EQ(recovered[0].baseline, 1e9);
  EXPECT_FALSE(steps.detector.is_slow());
}

TEST(StepTime, TheBaselineIsFrozenWhileStepsAreSlow) {
  Steps steps;
  steps.add(400, 1);
  steps.add(200 * 8, 1.2);
  EXPECT_EQ(steps.detector.baseline()->median, 1e9);
  steps.add(32, 1);
  EXPECT_EQ(steps.add(16, 1.2).size(), 1);
}

// A slow block, one as before, a slow one, one as before, over and over: half of the blocks are slow.
TEST(StepTime, WhatWasSlowIsNoPartOfTheBaselineAfterIt) {
  Steps steps(StepTimeOptions{.recovered = 1});
  steps.add(400, 1);
  for (int round = 0; round < 50; ++round) {
    EXPECT_TRUE(steps.add(8, 1.2).empty());
    EXPECT_TRUE(steps.add(8, 1).empty());
    const auto began = steps.add(8, 1.2);
    ASSERT_EQ(began.size(), 1) << round;
    EXPECT_EQ(began[0].baseline, 1e9);
    EXPECT_NEAR(began[0].spreads, 20, 1e-6);
    const auto recovered = steps.add(8, 1);
    ASSERT_EQ(recovered.size(), 1) << round;
    EXPECT_EQ(recovered[0].kind, Kind::recovered);
  }
}

TEST(StepTime, WhatIsAdoptedIsSlowNoMore) {
  Steps steps(StepTimeOptions{.slow = 2, .of = 50, .adopted = 42});
  steps.add(800, 1);
  steps.add(16, 1.5);
  EXPECT_EQ(steps.add(42 * 8, 1.5).back().kind, Kind::new_normal);
  EXPECT_TRUE(steps.add(80, 1.5).empty());
}

TEST(StepTime, After300BlocksTheNewLevelIsNormal) {
  Steps steps;
  steps.add(400, 1);
  EXPECT_EQ(steps.add(16, 1.5).size(), 1);
  EXPECT_TRUE(steps.add(300 * 8 - 1, 1.5).empty());
  const auto adopted = steps.add(1, 1.5);
  ASSERT_EQ(adopted.size(), 1);
  EXPECT_EQ(adopted[0].kind, Kind::new_normal);
  EXPECT_EQ(adopted[0].now, 1.5e9);
  EXPECT_EQ(adopted[0].baseline, 1e9);
  EXPECT_EQ(steps.detector.baseline()->median, 1.5e9);
  EXPECT_TRUE(steps.add(80, 1.6).empty());
  EXPECT_EQ(steps.add(80, 1.8).size(), 1);
}

TEST(StepTime, LongStepsComeInSmallBlocks) {
  Steps steps;
  steps.add(100, 12);
  EXPECT_TRUE(steps.add(7, 15).empty());
  EXPECT_EQ(steps.add(1, 15).size(), 1);
  Steps first;  // 20 blocks and 2 are what it takes
  first.add(20 * 4, 12);
  EXPECT_EQ(first.add(3 * 4, 15).size(), 1);
  Steps short_ones;
  short_ones.add(20 * 4, 10);
  EXPECT_TRUE(short_ones.add(3 * 4, 15).empty());
}

TEST(StepTime, ARestartBeginsAnewAndEndsWhatWasSlow) {
  Steps steps;
  steps.add(400, 1);
  steps.add(80, 1.5);
  steps.step = 0;
  steps.run = 1;
  const auto restarted = steps.add(1, 3);
  ASSERT_EQ(restarted.size(), 1);
  EXPECT_EQ(restarted[0].kind, Kind::restarted);
  EXPECT_EQ(restarted[0].step, 1);
  EXPECT_FALSE(steps.detector.baseline());
  EXPECT_TRUE(steps.add(400, 3).empty());
  EXPECT_EQ(steps.add(16, 4).size(), 1);
}

TEST(StepTime, NoFalseAlarmInTwoMillionStepsOfFiveNoises) {
  for (Noise noise : test::kNoises) {
    StepTime detector({});
    NoisySteps steps(noise, 1);
    i64 events = 0;
    for (int i = 0; i < 400'000; ++i) events += detector.add(steps.next()).has_value();
    EXPECT_EQ(events, 0) << static_cast<int>(noise);
    EXPECT_TRUE(detector.baseline());
  }
}

i64 total(const StepCounts& c) { return c.usable + c.first + c.captured + c.unusable + c.repeated; }

// How many steps it takes to tell of a change after `lead` steps, 1,000 where it takes more than 400; sorted.
std::vector<int> delays(Noise noise, double factor, bool is_at_a_block, const StepTimeOptions& options = {}) {
  constexpr int kRuns = 100;
  std::vector<int> delays;
  for (int run = 0; run < kRuns; ++run) {
    StepTime detector(options);
    NoisySteps steps(noise, 1000 + run);
    const int lead = 400 + (is_at_a_block ? 0 : run % 8);
    for (int i = 0; i < lead; ++i) EXPECT_FALSE(detector.add(steps.next()));
    int delay = 1;
    while (delay <= 400 && !detector.add(steps.next(factor))) ++delay;
    delays.push_back(delay <= 400 ? delay : 1000);
  }
  std::ranges::sort(delays);
  return delays;
}

i64 within(const std::vector<int>& delays, int steps) {
  return std::ranges::upper_bound(delays, steps) - delays.begin();
}

// A change with which a block begins is told of at the end of the second slow block, after 16 steps at best.
// One within a block waits for the next two, 20 steps at most, if fewer than five of the block's eight are
// slow.
TEST(StepTime, FifteenPercentOfQuietStepsAreToldWithin16Steps) {
  const auto aligned = delays(Noise::quiet, 1.15, true);
  EXPECT_GE(within(aligned, 16), 95);
  EXPECT_EQ(aligned[50], 16);
  const auto anywhere = delays(Noise::quiet, 1.15, false);
  EXPECT_GE(within(anywhere, 20), 95);
  EXPECT_NEAR(anywhere[50], 16, 1);
}

TEST(StepTime, FifteenPercentAmongCheckpointsAndSlowEighthStepsAreToldWithin16Steps) {
  EXPECT_GE(within(delays(Noise::checkpoints, 1.15, true), 16), 95);
  EXPECT_GE(within(delays(Noise::eighth, 1.15, true), 16), 95);
}

TEST(StepTime, TheOtherChangesOfTheTable) {
  const auto ten = delays(Noise::quiet, 1.10, true);  // at the threshold: half of the blocks are above it
  EXPECT_LE(ten[50], 32);
  EXPECT_GE(within(ten, 400), 90);
  const auto heavy = delays(Noise::heavy, 1.20, true);
  EXPECT_EQ(heavy[50], 16);
  EXPECT_GE(within(heavy, 400), 99);
  const auto correlated = delays(Noise::correlated, 1.50, true);
  EXPECT_EQ(correlated[50], 16);
  EXPECT_GE(within(correlated, 400), 97);
}

TEST(StepTime, SensitiveIsAsQuietAndTellsOfTenPercentAsSoon) {
  for (Noise noise : test::kNoises) {
    StepTime detector(sensitive());
    NoisySteps steps(noise, 2);
    i64 events = 0;
    for (int i = 0; i < 100'000; ++i) events += detector.add(steps.next()).has_value();
    EXPECT_EQ(events, 0) << static_cast<int>(noise);
  }
  EXPECT_GE(within(delays(Noise::quiet, 1.10, true, sensitive()), 16), 95);
}

// Ends of any number and time, as a log that somebody else writes may have them.
TEST(StepTime, WhateverASourceSaysIsUsedOrCounted) {
  std::mt19937_64 random(1);
  StepClock clock({.left_out_first = 3});
  StepTime detector({});
  i64 first_ends = 0;
  StepEnd end;
  for (int i = 0; i < 100'000; ++i) {
    const u64 kind = random() % 1000;
    end.step = kind == 0 ? static_cast<i64>(random()) : kind == 1 ? 0 : add_saturated(end.step, 1);
    end.at = kind == 2 ? static_cast<i64>(random()) : add_saturated(end.at, kSecond);
    end.took = kind == 3 ? std::optional(static_cast<Ns>(random())) : std::nullopt;
    if (kind == 4) clock.leave_out(static_cast<Ns>(random()), static_cast<Ns>(random()));
    const i64 counted = total(clock.counts());
    if (const auto step = clock.add(end)) {
      EXPECT_GT(step->took, 0);
      const auto event = detector.add(*step);
      EXPECT_TRUE(!event || (std::isfinite(event->now) && event->now > 0));
    }
    first_ends += total(clock.counts()) == counted;
  }
  EXPECT_GT(clock.counts().usable, 1000);
  EXPECT_GT(clock.counts().unusable, 10);
  EXPECT_LT(first_ends, 1000);  // of runs: they say when the second step began, no more
}

TEST(StepTime, MemoryDoesNotGrowInTenMillionSteps) {
  if (mallinfo2().uordblks == 0) GTEST_SKIP() << "the allocator of a sanitizer does not tell";
  Steps steps;
  const auto add_some = [&](int rounds) {  // slow, recovered, slow and adopted, over and over
    for (int i = 0; i < rounds; ++i) {
      steps.add(50 * 8, 1 + 0.3 * (i % 2));
      steps.add(350 * 8, 1 + 0.3 * (i % 3));
    }
  };
  add_some(125);
  const size_t before = mallinfo2().uordblks;
  add_some(3000);
  EXPECT_EQ(steps.step, 10'000'000);
  EXPECT_LE(mallinfo2().uordblks, before + 4096);
}

TEST(StepTime, OptionsAreChecked) {
  EXPECT_TRUE(check(StepTimeOptions{}));
  EXPECT_TRUE(check(sensitive()));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(check(StepTimeOptions{.sizes = {.steps = 0, .baseline = 40}}));
  EXPECT_FALSE(check(StepTimeOptions{.sizes = {.steps = 8, .baseline = 2}}));
  EXPECT_FALSE(check(StepTimeOptions{.slow_sizes = {.steps = 9, .baseline = 20}}));
  EXPECT_FALSE(check(StepTimeOptions{.slow_step = 0}));
  EXPECT_FALSE(check(StepTimeOptions{.gap = 0}));
  EXPECT_FALSE(check(StepTimeOptions{.ratio = nan}));
  EXPECT_FALSE(check(StepTimeOptions{.ratio = 1}));
  EXPECT_FALSE(check(StepTimeOptions{.recovered_ratio = 1.1}));
  EXPECT_FALSE(check(StepTimeOptions{.spreads = nan}));
  EXPECT_FALSE(check(StepTimeOptions{.least_spread = 0}));
  EXPECT_FALSE(check(StepTimeOptions{.slow = 4}));
  EXPECT_FALSE(check(StepTimeOptions{.recovered = 0}));
  EXPECT_FALSE(check(StepTimeOptions{.adopted = 41}));
  EXPECT_TRUE(check(StepTimeOptions{.adopted = 42}));
}

// The least that the check lets through, so that nothing is read that is not there.
TEST(StepTime, TheLeastOptionsWork) {
  const StepTimeOptions least = {.sizes = {.steps = 1, .baseline = 3},
                                 .slow_sizes = {.steps = 1, .baseline = 3},
                                 .gap = 1,
                                 .slow = 1,
                                 .of = 1,
                                 .recovered = 1,
                                 .adopted = 4};
  ASSERT_TRUE(check(least));
  Steps steps(least);
  EXPECT_TRUE(steps.add(4, 1).empty());
  EXPECT_EQ(steps.add(1, 2).size(), 1);
  EXPECT_EQ(steps.add(1, 1)[0].kind, Kind::recovered);
  EXPECT_EQ(steps.add(1, 2).size(), 1);
  EXPECT_EQ(steps.add(4, 2).back().kind, Kind::new_normal);
}

}  // namespace
}  // namespace spotter::respond
