#include "analyze/replay/job_path.h"

#include <gtest/gtest.h>

#include "analyze/replay/skeleton_table.h"

namespace spotter::analyze {
namespace {

SkeletonRow run(Ns device, Ns host) {
  return {.op = SkeletonOp::run, .stream = 0, .host = host, .device = device, .count = 1};
}

// A rank of one step and one call that both take part in.
RankTable rank(i64 number, std::vector<SkeletonRow> before, Ns start, Ns end,
               std::vector<SkeletonRow> after) {
  Skeleton skeleton;
  SkeletonRow step{.op = SkeletonOp::step, .number = 7};
  step.group = skeleton.strings.intern("host");
  SkeletonRow call{.op = SkeletonOp::collective, .stream = 0, .start = start, .end = end, .number = 1};
  call.name = skeleton.strings.intern("all_reduce");
  call.group = skeleton.strings.intern("0 [0, 1]");
  // Work is there when its launch begins.
  const auto add = [&](const SkeletonRow& row) {
    const HullPoint launch = {0, row.device};
    skeleton.add(row, std::span(&launch, row.op == SkeletonOp::run || row.op == SkeletonOp::collective));
  };
  add(step);
  for (const SkeletonRow& row : before) add(row);
  add(call);
  for (const SkeletonRow& row : after) add(row);
  add({.op = SkeletonOp::end});
  return {number, std::to_string(number), skeleton_table(std::move(skeleton))};
}

struct Expected {
  u32 rank;
  PathKind kind;
  Ns start, dur;
};

void expect_path(const JobPath& path, std::vector<Expected> expected) {
  ASSERT_EQ(path.pieces.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(path.pieces[i].rank, expected[i].rank) << i;
    EXPECT_STREQ(path_kind_name(path.pieces[i].kind), path_kind_name(expected[i].kind)) << i;
    EXPECT_EQ(path.pieces[i].start, expected[i].start) << i;
    EXPECT_EQ(path.pieces[i].dur, expected[i].dur) << i;
  }
}

TEST(JobPath, GoesThroughTheLastRankToItsHost) {
  // Rank 1 stands still for 200, then works for 100, and the call takes 20: 300 to 320; rank 0 then works
  // longest.
  SkeletonRow pause{.op = SkeletonOp::pause, .cause = Cause::silence, .host = 200};
  const JobProgram job = make_program({rank(0, {run(100, 0)}, 100, 320, {run(30, 0)}),
                                       rank(1, {pause, run(100, 0)}, 300, 320, {run(10, 0)})});
  const JobPath path = job_path(job);
  ASSERT_EQ(path.steps.size(), 1u);
  EXPECT_EQ(path.steps[0].number, 7);
  EXPECT_EQ(path.steps[0].length(), 350);
  expect_path(path, {{1, PathKind::pause, 0, 200},
                     {1, PathKind::device, 200, 100},
                     {0, PathKind::transfer, 300, 20},
                     {0, PathKind::device, 320, 30}});
  EXPECT_EQ(path.pieces[2].name, "all_reduce");
}

TEST(JobPath, AHostThatWaitsIsHeldByWhatItWaitsFor) {
  SkeletonRow await{.op = SkeletonOp::await, .target = 1}, sync{.op = SkeletonOp::sync, .host = 40};
  const JobProgram job = make_program({rank(0, {run(100, 5), await, sync}, 140, 150, {})});
  const JobPath path = job_path(job);
  expect_path(
      path, {{0, PathKind::device, 0, 100}, {0, PathKind::host, 100, 40}, {0, PathKind::transfer, 140, 10}});
}

TEST(JobPath, WithoutRanksHasNothing) { EXPECT_TRUE(job_path(make_program({})).pieces.empty()); }

}  // namespace
}  // namespace spotter::analyze
