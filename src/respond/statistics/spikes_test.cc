#include "respond/statistics/spikes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace spotter::respond {
namespace {

// Steps of a second, 1 to `last`, those of `slow` taking `seconds`.
Spikes after(const std::set<i64>& slow, i64 last = 100, double seconds = 2) {
  Spikes spikes(SpikeOptions{});
  for (i64 step = 1; step <= last; ++step)
    spikes.add({.step = step, .took = std::llround(1e9 * (slow.contains(step) ? seconds : 1))}, 1e9);
  return spikes;
}

TEST(Spikes, ThreeOfAHundredAtDistancesThatDiffer) {
  EXPECT_TRUE(after({10, 30, 71}).has_spikes());
  EXPECT_FALSE(after({10, 30}).has_spikes());
  EXPECT_FALSE(after({10, 30, 71}, 100, 1.9).has_spikes());
}

TEST(Spikes, CheckpointsComeAtEqualDistances) {
  EXPECT_FALSE(after({10, 40, 70, 100}).has_spikes());
  EXPECT_FALSE(after({10, 40, 71}).has_spikes());  // 3 % apart
  EXPECT_TRUE(after({10, 40, 72}).has_spikes());
}

TEST(Spikes, ACheckpointMayTakeSomeSteps) {
  EXPECT_FALSE(after({10, 11, 40, 41, 70, 71}).has_spikes());
  EXPECT_EQ(after({10, 11, 12}).count(), 1);
}

TEST(Spikes, OfTheLastHundred) {
  EXPECT_TRUE(after({10, 30, 71}, 109).has_spikes());
  EXPECT_FALSE(after({10, 30, 71}, 110).has_spikes());
}

TEST(Spikes, TwiceAsSlowAllTheTimeAreNone) {
  std::set<i64> all;
  for (i64 step = 51; step <= 200; ++step) all.insert(step);
  EXPECT_FALSE(after(all, 200).has_spikes());
}

TEST(Spikes, ARestartBeginsAnew) {
  Spikes spikes = after({10, 30, 71});
  spikes.add({.step = 1, .took = kSecond, .run = 1}, 1e9);
  EXPECT_FALSE(spikes.has_spikes());
}

TEST(Spikes, WithoutAUsualStepThereAreNone) {
  Spikes spikes(SpikeOptions{});
  for (i64 step = 1; step <= 100; ++step) spikes.add({.step = step, .took = step * step}, std::nan(""));
  EXPECT_EQ(spikes.count(), 0);
}

TEST(Spikes, OptionsAreChecked) {
  EXPECT_TRUE(check(SpikeOptions{}));
  EXPECT_FALSE(check(SpikeOptions{.window = 2}));
  EXPECT_FALSE(check(SpikeOptions{.least = 2}));
  EXPECT_FALSE(check(SpikeOptions{.least = 101}));
  EXPECT_FALSE(check(SpikeOptions{.ratio = 1}));
  EXPECT_FALSE(check(SpikeOptions{.regular = 1}));
}

}  // namespace
}  // namespace spotter::respond
