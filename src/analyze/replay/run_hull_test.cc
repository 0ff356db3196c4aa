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

Ns end_of(const SkeletonRow& row, Ns stream, Ns host) {
  Ns end = stream + row.gap + row.device;
  for (u8 i = 0; i < row.points; ++i) end = std::max(end, host + row.hull[i].lead + row.hull[i].rest);
  return end;
}

// As many rows as it takes.
std::vector<SkeletonRow> rows_of(const std::vector<Piece>& pieces) {
  std::vector<SkeletonRow> rows(1);
  for (const Piece& p : pieces) {
    if (RunHull(rows.back()).add(p.lead, p.gap, p.dur)) continue;
    rows.emplace_back();
    EXPECT_TRUE(RunHull(rows.back()).add(p.lead, p.gap, p.dur));
  }
  for (SkeletonRow& row : rows) RunHull::finish(row);
  return rows;
}

TEST(RunHull, EndsWhenThePiecesDoWheneverStreamAndHostAreReady) {
  std::mt19937 random(1);
  const auto below = [&](Ns n) { return static_cast<Ns>(random() % static_cast<u64>(n)); };
  for (int round = 0; round < 300; ++round) {
    std::vector<Piece> pieces;
    Ns lead = 0;
    for (Ns i = 0, n = 1 + below(30); i < n; ++i) pieces.push_back({lead += below(50), below(4), below(60)});
    const std::vector<SkeletonRow> rows = rows_of(pieces);
    i64 count = 0;
    for (const SkeletonRow& row : rows) count += row.count;
    EXPECT_EQ(count, std::ssize(pieces));
    for (const Ns host : {0, 100, 400, 1000}) {
      // Leads of all rows are counted from the first row's first call here.
      Ns end = 500;
      for (const SkeletonRow& row : rows) end = end_of(row, end, host);
      EXPECT_EQ(end, end_of(pieces, 500, host));
    }
  }
}

TEST(RunHull, KeepsOnlyTheLaunchesThatCanBeLast) {
  SkeletonRow row;
  RunHull hull(row);
  // Launched at once and long: the first one alone can hold the run up.
  for (const Ns lead : {5, 5, 5, 5, 5, 5, 5, 5}) EXPECT_TRUE(hull.add(lead, 1, 100));
  RunHull::finish(row);
  EXPECT_EQ(row.points, 1);
  EXPECT_EQ(row.hull[0], (HullPoint{5, 807}));
  EXPECT_EQ(row.gap + row.device, 808);
  EXPECT_EQ(row.hull[1], HullPoint());
}

TEST(RunHull, TakesNoMorePointsThanItHas) {
  SkeletonRow row;
  RunHull hull(row);
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
