#include "respond/statistics/median.h"

#include <gtest/gtest.h>

#include <vector>

namespace spotter::respond {
namespace {

double median_of(std::vector<double> values) { return median(values); }

TEST(Median, OfOddAndEvenCounts) {
  EXPECT_EQ(median_of({5}), 5);
  EXPECT_EQ(median_of({9, 1}), 5);
  EXPECT_EQ(median_of({9, 1, 4}), 4);
  EXPECT_EQ(median_of({4, 3, 100, 1}), 3.5);
  EXPECT_EQ(median_of({2, 2, 2, 1, 1, 1}), 1.5);
}

TEST(Median, OneWildValueMovesNeitherMedianNorSpread) {
  std::vector<double> values = {10, 11, 9, 12, 8, 1e9, 10};
  const Level level = level_of(values);
  EXPECT_EQ(level.median, 10);
  EXPECT_EQ(level.spread, 1.4826);
}

}  // namespace
}  // namespace spotter::respond
