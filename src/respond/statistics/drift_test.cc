#include "respond/statistics/drift.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace spotter::respond {
namespace {

TEST(Trend, OfALineItIsItsSlope) {
  std::deque<TrendPoint> points;
  for (i64 i = 0; i <= 20; ++i)
    points.push_back({.at = i * 6 * kMinute, .value = 90 + static_cast<double>(i)});
  const Trend trend = trend_of(points);
  EXPECT_NEAR(trend.per_hour, 0.1, 1e-12);  // 10 an hour, of 100
  EXPECT_EQ(trend.tau, 1);
}

TEST(Trend, AThirdOfWildPointsDoesNotTurnIt) {
  std::deque<TrendPoint> points;
  for (i64 i = 0; i < 60; ++i)
    points.push_back({.at = i * kMinute, .value = i % 4 == 1 ? 1e6 : 100 + static_cast<double>(i)});
  EXPECT_NEAR(trend_of(points).per_hour, 0.43, 0.05);
}

TEST(Trend, OfOneMomentThereIsNone) {
  EXPECT_EQ(trend_of({{.at = 5, .value = 1}, {.at = 5, .value = 2}}).per_hour, 0);
}

TEST(Trend, WhatFallsHasANegativeTau) {
  EXPECT_EQ(trend_of({{.at = 0, .value = 3}, {.at = 1, .value = 2}, {.at = 2, .value = 2}}).tau, -2.0 / 3);
}

// Blocks of 8 steps around 1 s for so many hours, of which `level` says the median by the hours that have
// passed.
Drift drift_after(double hours, const std::function<double(double)>& level, u64 seed = 1) {
  Drift drift(DriftOptions{});
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, 0.01);
  Ns now = 0;
  while (now < static_cast<Ns>(hours * static_cast<double>(kHour))) {
    const double seconds = level(static_cast<double>(now) / static_cast<double>(kHour)) * (1 + noise(random));
    now += std::llround(8e9 * seconds);
    drift.add({.until = now, .median = seconds * 1e9});
  }
  return drift;
}

TEST(Drift, EightPercentAnHourIsOne) {
  const Drift drift = drift_after(2.1, [](double hours) { return 1 + 0.08 * hours; });
  EXPECT_TRUE(drift.is_drifting());
  EXPECT_NEAR(drift.trend()->per_hour, 0.08 / 1.084, 0.005);
  EXPECT_LE(drift.trend()->points, 200);  // of 830 blocks
  EXPECT_GE(drift.trend()->points, 150);
}

TEST(Drift, TwoPercentAnHourAndFasterStepsAreNone) {
  EXPECT_FALSE(drift_after(2.1, [](double hours) { return 1 + 0.02 * hours; }).is_drifting());
  EXPECT_FALSE(drift_after(2.1, [](double hours) { return 1 - 0.08 * hours; }).is_drifting());
}

TEST(Drift, NoiseIsNone) {
  for (u64 seed = 1; seed <= 5; ++seed) {
    const Drift drift = drift_after(2.2, [](double) { return 1.0; }, seed);
    ASSERT_TRUE(drift.trend());
    EXPECT_FALSE(drift.is_drifting());
    EXPECT_LT(std::abs(drift.trend()->tau), 0.3);
  }
}

// A slope that is steep, but of values that mostly go both ways: a level that swings.
TEST(Drift, SwingsAreNoneWhateverTheirSlope) {
  const Drift drift =
      drift_after(2.1, [](double hours) { return 1 + 0.12 * hours + 0.4 * std::sin(hours * 40); });
  EXPECT_GE(drift.trend()->per_hour, 0.05);
  EXPECT_LT(drift.trend()->tau, 0.5);
  EXPECT_FALSE(drift.is_drifting());
}

TEST(Drift, NeedsItsWholeWindow) {
  const auto level = [](double hours) { return 1 + 0.2 * hours; };
  EXPECT_FALSE(drift_after(1.9, level).trend());
  EXPECT_TRUE(drift_after(2.1, level).trend());
}

TEST(Drift, ARestartAndAClockThatGoesBackBeginAnew) {
  Drift drift = drift_after(2.1, [](double hours) { return 1 + 0.2 * hours; });
  Drift restarted = drift;
  restarted.add({.until = 3 * kHour, .median = 1e9, .run = 1});
  EXPECT_FALSE(restarted.trend());
  drift.add({.until = kHour, .median = 1e9});
  EXPECT_FALSE(drift.trend());
}

TEST(Drift, OptionsAreChecked) {
  EXPECT_TRUE(check(DriftOptions{}));
  EXPECT_FALSE(check(DriftOptions{.window = kSecond}));
  EXPECT_FALSE(check(DriftOptions{.points = 9}));
  EXPECT_FALSE(check(DriftOptions{.points = 1001}));
  EXPECT_FALSE(check(DriftOptions{.per_hour = 0}));
  EXPECT_FALSE(check(DriftOptions{.tau = std::nan("")}));
}

}  // namespace
}  // namespace spotter::respond
