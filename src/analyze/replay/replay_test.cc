#include "analyze/replay/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "analyze/replay/skeleton_table.h"

namespace spotter::analyze {
namespace {

// A skeleton row by row; each takes the host no time unless it says so.
class Rank {
 public:
  explicit Rank(i64 number) : number_(number) { step(1); }
  Rank& step(i64 number) { return add({.op = SkeletonOp::step, .group = intern("host"), .number = number}); }
  Rank& end() { return add({.op = SkeletonOp::end}); }
  Rank& run(u32 stream, Ns device, Ns host = 0, Ns lead = 0) {
    return add({.op = SkeletonOp::run, .stream = stream, .host = host, .device = device, .count = 1},
               {{lead, device}});
  }
  Rank& pause(Ns host) { return add({.op = SkeletonOp::pause, .cause = Cause::silence, .host = host}); }
  Rank& call(u32 stream, Ns start, Ns end, i64 number, const char* name = "all_reduce", i64 peer = kNoPeer) {
    SkeletonRow row = {.op = SkeletonOp::collective,
                       .name = intern(name),
                       .group = intern("0 [0, 1]"),
                       .stream = stream,
                       .start = start,
                       .end = end,
                       .number = number,
                       .peer = peer};
    return add(row, {{}});
  }
  Rank& wait(u32 stream, u32 target) {
    return add({.op = SkeletonOp::wait, .stream = stream, .target = target});
  }
  Rank& sync(u32 target, Ns host = 0) {
    add({.op = SkeletonOp::await, .target = target});
    return add({.op = SkeletonOp::sync, .host = host});
  }
  u32 last() const { return static_cast<u32>(skeleton_.rows.size() - 1); }
  RankTable table() { return {number_, std::to_string(number_), skeleton_table(std::move(skeleton_))}; }

 private:
  StringId intern(const char* text) { return skeleton_.strings.intern(text); }
  Rank& add(const SkeletonRow& row, std::vector<HullPoint> hull = {}) {
    skeleton_.add(row, hull);
    return *this;
  }
  i64 number_;
  Skeleton skeleton_;
};

JobProgram job_of(std::vector<RankTable> ranks) { return make_program(std::move(ranks)); }

Ns end_of(const JobProgram& job) { return replay(job, Scenario(job)).length(job); }

TEST(Replay, AStreamRunsWhatIsLaunchedAndTheHostGoesOn) {
  EXPECT_EQ(end_of(job_of({Rank(0).run(0, 100, 10).run(0, 50, 10).end().table()})), 150);
  // Launched later than the stream is free.
  EXPECT_EQ(end_of(job_of({Rank(0).run(0, 10, 100).run(0, 50, 10).end().table()})), 150);
  EXPECT_EQ(end_of(job_of({Rank(0).run(0, 10, 300).end().table()})), 300);
}

TEST(Replay, StreamsAreSideBySideUnlessOneWaits) {
  RankTable beside = Rank(0).run(0, 100).run(1, 70).end().table();
  EXPECT_EQ(end_of(job_of({beside})), 100);
  Rank after(0);
  after.run(0, 100);
  const u32 first = after.last();
  after.wait(1, first).run(1, 70).end();
  EXPECT_EQ(end_of(job_of({after.table()})), 170);
}

TEST(Replay, AHostThatWaitsLaunchesLater) {
  Rank rank(0);
  rank.run(0, 100, 5);
  rank.sync(rank.last(), 7).run(0, 50).end();
  JobProgram job = job_of({rank.table()});
  EXPECT_EQ(end_of(job), 157);
  Scenario skipped(job);
  skipped.is_skipped[3] = 1;  // the sync
  EXPECT_EQ(replay(job, skipped).length(job), 150);
}

TEST(Replay, ACallBeginsWithItsLastRankAndEndsOnAll) {
  // Rank 1 comes at 300, and the transfer takes 20: 300 to 320 as recorded.
  const auto job = [] {
    return job_of({Rank(0).run(0, 100).call(0, 100, 320, 1).run(0, 10).end().table(),
                   Rank(1).pause(200).run(0, 100).call(0, 300, 320, 1).run(0, 10).end().table()});
  };
  JobProgram both = job();
  ASSERT_EQ(both.calls.size(), 1u);
  EXPECT_EQ(both.calls[0].members, 2u);
  EXPECT_EQ(both.calls[0].transfer, 20);
  EXPECT_EQ(end_of(both), 330);
  // Without its pause rank 1 is as early as rank 0.
  Scenario scenario(both);
  scenario.host[both.ranks[1].first_row + 1] = 0;
  EXPECT_EQ(replay(both, scenario).length(both), 130);
  scenario.transfer[0] = 0;
  EXPECT_EQ(replay(both, scenario).length(both), 110);
  Scenario slow(both);
  slow.device[1] = 2;  // of rank 1's only step
  EXPECT_EQ(replay(both, slow).length(both), 440);
}

TEST(Replay, RanksMayMeetInAnyOrder) {
  // Rank 0 asks for the calls on two streams one way round, rank 1 the other way.
  JobProgram job = job_of({Rank(0).call(1, 0, 10, 1, "a").call(2, 0, 10, 1, "b").end().table(),
                           Rank(1).call(2, 0, 10, 1, "b").call(1, 0, 10, 1, "a").end().table()});
  const Replayed played = replay(job, Scenario(job));
  EXPECT_EQ(played.forced, 0);
  EXPECT_EQ(played.length(job), 10);
}

TEST(Replay, WhatCannotGoOnIsEndedAndCounted) {
  // On one stream each has first what the other has second.
  JobProgram job = job_of({Rank(0).call(1, 0, 10, 1, "a").call(1, 10, 20, 1, "b").end().table(),
                           Rank(1).call(1, 0, 10, 1, "b").call(1, 10, 20, 1, "a").end().table()});
  const Replayed played = replay(job, Scenario(job));
  EXPECT_GT(played.forced, 0);
  EXPECT_GE(played.length(job), 10);
}

TEST(Replay, AnEagerSenderGoesOnAndItsReceiverWaits) {
  // The send of the first pair ended before its receive began, so sends are eager.
  JobProgram job = job_of({Rank(0).run(0, 100).call(1, 0, 10, -1, "send", 1).run(1, 5).end().table(),
                           Rank(1).call(1, 50, 62, -1, "recv", 0).run(1, 5).end().table()});
  ASSERT_EQ(job.calls.size(), 1u);
  EXPECT_TRUE(job.calls[0].is_send && job.calls[0].is_eager);
  EXPECT_EQ(job.calls[0].transfer, 12);
  EXPECT_EQ(job.calls[0].sending, 10);
  const Replayed played = replay(job, Scenario(job));
  EXPECT_EQ(played.finish[0], 100);
  EXPECT_EQ(played.finish[1], 17);
}

TEST(Replay, NoMoreLaunchesAreOutstandingThanTheQueueHolds) {
  Rank rank(0);
  for (int i = 0; i < 1100; ++i) rank.run(0, 100, 1);
  rank.pause(50).end();
  const JobProgram job = job_of({rank.table()});
  // The last launch has room when the 76th piece has ended.
  EXPECT_EQ(end_of(job), 110'000);
  const Replayed played = replay(job, Scenario(job));
  EXPECT_EQ(played.forced, 0);
}

TEST(Replay, ClocksOfHostsAreToldByTheEndsOfCalls) {
  // The second rank's host is 1,000 ahead: what ends at 320 ends at 1320 there.
  const auto on = [](RankTable table, const char* host) {
    Skeleton skeleton = skeleton_of(table.table);
    for (SkeletonRow& row : skeleton.rows)
      if (row.op == SkeletonOp::step) row.group = skeleton.strings.intern(host);
    table.table = skeleton_table(std::move(skeleton));
    return table;
  };
  std::vector<RankTable> tables = {on(Rank(0).call(0, 100, 320, 1).end().table(), "a"),
                                   on(Rank(1).call(0, 1300, 1320, 1).end().table(), "b")};
  const JobProgram job = make_program(std::move(tables));
  EXPECT_EQ(job.ranks[0].clock, 0);
  EXPECT_EQ(job.ranks[1].clock, 1000);
  EXPECT_EQ(job.calls[0].transfer, 20);
}

TEST(Skeleton, ImpossibleRowsAreLeftOutAndNoted) {
  Rank rank(0);
  rank.wait(0, 40).run(0, 10).end();  // waits for what comes later
  const JobProgram job = job_of({rank.table()});
  EXPECT_EQ(job.notes.count("impossible_row"), 1);
  EXPECT_EQ(end_of(job), 10);
}

// Rank 1 has no file: what the second call takes longer than the first one was waiting for it.
TEST(Replay, ARankWithoutAFileComesWhenItCame) {
  const JobProgram job = job_of({Rank(0).call(0, 0, 10, 1).run(0, 90).call(0, 100, 150, 2).end().table()});
  EXPECT_EQ(job.absent, std::set<i64>{1});
  EXPECT_EQ(job.calls[0].transfer, 10);
  EXPECT_EQ(job.calls[1].transfer, 10);
  EXPECT_EQ(std::max(job.calls[0].waited, job.calls[1].waited), 40);
  EXPECT_EQ(end_of(job), 150);
  Scenario faster(job);
  faster.device[0] = 0;
  EXPECT_EQ(replay(job, faster).length(job), 150);  // whoever is faster waits longer
  Scenario alone(job);
  alone.waits_for_absent = false;
  EXPECT_EQ(replay(job, alone).length(job), 110);
}

TEST(Replay, ALateLaunchIsOnlyAsLongAsTheHostIsAtIt) {
  const JobProgram job = job_of({Rank(0).run(0, 10, 20, 300).end().table()});
  Scenario scenario(job);
  scenario.leads = 0;
  EXPECT_EQ(replay(job, scenario).length(job), 290);  // 280 of it the host was done already
}

}  // namespace
}  // namespace spotter::analyze
