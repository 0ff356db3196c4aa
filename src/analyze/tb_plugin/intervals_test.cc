#include "analyze/tb_plugin/intervals.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "analyze/tb_plugin/gpu_use.h"

namespace spotter::analyze::tb_plugin {
namespace {

std::vector<std::pair<Us, Us>> pairs(const UsIntervals& intervals) {
  std::vector<std::pair<Us, Us>> all;
  for (const UsInterval& i : intervals) all.emplace_back(i.start, i.end);
  return all;
}
using Pairs = std::vector<std::pair<Us, Us>>;

// T18 of the plugin's own tests.
TEST(UsIntervals, MergeWhatOverlapsOrTouches) {
  EXPECT_EQ(pairs(merged({{1.1, 2.2}, {1.5, 2.3}, {3.3, 3.9}, {3.5, 3.6}, {3.7, 3.8}, {4.1, 4.2}})),
            (Pairs{{1.1, 2.3}, {3.3, 3.9}, {4.1, 4.2}}));
  EXPECT_EQ(pairs(merged({{5, 6}, {1, 5}})), (Pairs{{1, 6}}));
}

TEST(UsIntervals, IntersectAndSubtractWithoutEmptyPieces) {
  const UsIntervals a = {{0, 10}, {20, 30}}, b = {{5, 10}, {10, 22}, {25, 26}, {30, 40}};
  EXPECT_EQ(pairs(intersection(a, b)), (Pairs{{5, 10}, {20, 22}, {25, 26}}));
  EXPECT_EQ(pairs(difference(a, b)), (Pairs{{0, 5}, {22, 25}, {26, 30}}));
  EXPECT_EQ(length_in({8, 21}, a), 3);
  EXPECT_EQ(length(difference(a, {})), 20);
}

TEST(UsIntervals, NanosecondsEndWhere64BitsDo) {
  EXPECT_EQ(ns_of(1.2344999), 1234);
  EXPECT_EQ(ns_of(-0.0006), -1);
  EXPECT_EQ(ns_of(1e300), std::numeric_limits<Ns>::max());
  EXPECT_EQ(ns_of(-1e300), std::numeric_limits<Ns>::min());
  EXPECT_EQ(unix_ns(std::numeric_limits<Ns>::max() - 1, 5), std::numeric_limits<Ns>::max());
}

TEST(Buckets, AreOfAPowerOfTenAndTheLastOneHasTheRemainder) {
  const auto buckets = buckets_of({100, 350});
  ASSERT_EQ(buckets.size(), 25u);  // of 1 us there would be 250
  EXPECT_EQ(buckets.front().end, 110);
  const auto longer = buckets_of({0, 1'055});
  ASSERT_EQ(longer.size(), 10u);
  EXPECT_EQ(longer.back().start, 900);
  EXPECT_EQ(longer.back().end, 1'055);
  EXPECT_TRUE(buckets_of({5, 5}).empty());
}

}  // namespace
}  // namespace spotter::analyze::tb_plugin
