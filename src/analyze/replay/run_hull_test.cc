#include "analyze/replay/run_hull.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace spotter::analyze {
namespace {

struct Piece {
  Ns lead, gap, dur;
};

// When the pieces end one after the other.
Ns end_of(const std::vector<Piece>& pieces, Ns stream, Ns host) {
  for (const Piece& p : pieces) stream = std::max(stream + p.gap, host + p.lead) + p.dur;
  return stream;
}

Ns end_of(const Skeleton& skeleton, const SkeletonRow& row, Ns stream, Ns host) {
  Ns end = stream + row.gap + row.device;
  for (const HullPoint& point : skeleton.hull_of(row)) end = std::max(end, host + point.lead + point.rest);
  return end;
}

// As many rows as it takes.
Skeleton rows_of(const std::vector<Piece>& pieces) {
  Skeleton skeleton;
  skeleton.add({});
  for (const Piece& p : pieces) {
    if (RunHull(skeleton).add(p.lead, p.gap, p.dur)) continue;
    skeleton.add({});
    EXPECT_TRUE(RunHull(skeleton).add(p.lead, p.gap, p.dur));
  }
  for (const SkeletonRow& row : skeleton.rows) RunHull::finish(skeleton, row);
  return skeleton;
}

TEST(RunHull, EndsWhenThePiecesDoWheneverStreamAndHostAreReady) {
  std::mt19937 random(1);
  const auto below = [&](Ns n) { return static_cast<Ns>(random() % static_cast<u64>(n)); };
  for (int round = 0; round < 300; ++round) {
    std::vector<Piece> pieces;
    Ns lead = 0;
    for (Ns i = 0, n = 1 + below(30); i < n; ++i) pieces.push_back({lead += below(50), below(4), below(60)});
    const Skeleton skeleton = rows_of(pieces);
    i64 count = 0;
    for (const SkeletonRow& row : skeleton.rows) count += row.count;
    EXPECT_EQ(count, std::ssize(pieces));
    for (const Ns host : {0, 100, 400, 1000}) {
      // Leads of all rows are counted from the first row's first call here.
      Ns end = 500;
      for (const SkeletonRow& row : skeleton.rows) end = end_of(skeleton, row, end, host);
      EXPECT_EQ(end, end_of(pieces, 500, host));
    }
  }
}

TEST(RunHull, KeepsOnlyTheLaunchesThatCanBeLast) {
  Skeleton skeleton;
  const SkeletonRow& row = skeleton.add({});
  RunHull hull(skeleton);
  // Launched at once and long: the first one alone can hold the run up.
  for (const Ns lead : {5, 5, 5, 5, 5, 5, 5, 5}) EXPECT_TRUE(hull.add(lead, 1, 100));
  RunHull::finish(skeleton, row);
  EXPECT_EQ(row.points, 1);
  EXPECT_EQ(skeleton.hull, std::vector{(HullPoint{5, 807})});
  EXPECT_EQ(row.gap + row.device, 808);
}

TEST(RunHull, TakesNoMorePointsThanItHas) {
  Skeleton skeleton;
  const SkeletonRow& row = skeleton.add({});
  RunHull hull(skeleton);
  // Each longer than the one before, and launched as much later: every point is on the hull.
  Ns lead = 0, dur = 10;
  int taken = 0;
  while (hull.add(lead, 0, dur)) {
    lead += 100;
    dur *= 2;
    ++taken;
    ASSERT_LT(taken, 10);
  }
  EXPECT_EQ(row.points, kHullPoints);
  EXPECT_EQ(row.count, taken);
}

}  // namespace
}  // namespace spotter::analyze
