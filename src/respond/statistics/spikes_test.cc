#include "respond/statistics/spikes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
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

// A job that evaluates and saves has two series, or more; by the fourth of each it is known.
TEST(Spikes, SeveralSeriesAreNone) {
  for (const auto& [one, other] : {std::pair{30, 50}, {25, 40}, {20, 33}, {100, 45}}) {
    std::set<i64> slow;
    for (i64 step = one; step <= 2000; step += one) slow.insert(step);
    for (i64 step = other; step <= 2000; step += other) slow.insert(step + 3);
    for (i64 last = 4 * std::max(one, other) + 100; last <= 2000; last += 17)
      EXPECT_FALSE(after(slow, last).has_spikes()) << one << " " << other << " " << last;
  }
}

TEST(Spikes, ThoseBesideASeriesAreTold) {
  std::set<i64> slow = {1910, 1925, 1968};
  for (i64 step = 30; step <= 2000; step += 30) slow.insert(step);
  EXPECT_TRUE(after(slow, 2000).has_spikes());
}

// By chance some of them are at the distances of a series.
TEST(Spikes, AtRandomTheyAreToldMostOfTheTime) {
  for (const u64 one_of : {20u, 12u}) {
    std::mt19937_64 random(one_of);
    Spikes spikes(SpikeOptions{});
    i64 told = 0;
    for (i64 step = 1; step <= 20'000; ++step) {
      spikes.add({.step = step, .took = random() % one_of == 0 ? 3 * kSecond : kSecond}, 1e9);
      told += spikes.has_spikes();
    }
    EXPECT_GE(told, 20'000 * 7 / 10) << one_of;
  }
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
