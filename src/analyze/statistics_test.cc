#include "analyze/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "table/ops.h"

namespace spotter::analyze {
namespace {

TEST(Statistics, OfKnownValues) {
  std::vector<Ns> values = {9, 2, 4, 5, 4, 7, 4, 5};
  const Statistics s = statistics_of(values);
  EXPECT_EQ(s.count, 8);
  EXPECT_EQ(s.sum, 40);
  EXPECT_EQ(s.min, 2);
  EXPECT_EQ(s.max, 9);
  EXPECT_DOUBLE_EQ(s.mean, 5);
  EXPECT_DOUBLE_EQ(s.std, 2.1380899352993952);  // sqrt(32 / 7)
  EXPECT_DOUBLE_EQ(s.p25, 4);
  EXPECT_DOUBLE_EQ(s.median, 4.5);
  EXPECT_DOUBLE_EQ(s.p75, 5.5);
}

TEST(Statistics, OfOneValue) {
  std::vector<Ns> values = {3};
  const Statistics s = statistics_of(values);
  EXPECT_EQ(s.std, 0);
  EXPECT_EQ(s.p25, 3);
  EXPECT_EQ(s.p75, 3);
}

TEST(Statistics, SpreadOfLargeValuesIsExact) {
  const Ns large = Ns{1} << 50;
  std::vector<Ns> values = {large, large + 1, large + 2};
  EXPECT_DOUBLE_EQ(statistics_of(values).std, 1);
}

TEST(Statistics, QuartilesAreThoseOfTheSortedValues) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<Ns> values(1 + random() % 40);
    for (Ns& v : values) v = static_cast<Ns>(random() % 50);
    std::vector<Ns> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const Statistics s = statistics_of(values);
    EXPECT_EQ(s.p25, table::quantile(sorted, 0.25));
    EXPECT_EQ(s.median, table::quantile(sorted, 0.5));
    EXPECT_EQ(s.p75, table::quantile(sorted, 0.75));
  }
}

TEST(Statistics, RatioOfNothingIsNull) {
  EXPECT_TRUE(is_null(ratio(0, 0)));
  EXPECT_EQ(std::get<double>(ratio(1, 4)), 0.25);
}

// A bandwidth of 3 TB/s is 3e16 in its unit; a few hundred of them are beyond 64 bits.
TEST(Statistics, SumsBeyond64Bits) {
  std::vector<i64> values(1000, 30'000'000'000'000'000);
  EXPECT_EQ(statistics_of(values).mean, 3e16);
  EXPECT_EQ(statistics_of(values).std, 0);
}

}  // namespace
}  // namespace spotter::analyze
