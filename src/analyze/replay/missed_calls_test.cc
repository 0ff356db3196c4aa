#include "analyze/replay/missed_calls.h"

#include <gtest/gtest.h>

#include "analyze/list.h"
#include "base/time.h"
#include "trace/builder.h"

namespace spotter::analyze {
namespace {

struct Call {
  Ns start, end;
  const char* operation = "gloo:all_reduce";
};

// A rank without a device that works, steps, and then makes these calls, each begun by its main thread.
RankTable rank_of(i64 number, const std::vector<Call>& calls, std::optional<Ns> recorded_until,
                  const char* host = "n0") {
  trace::TraceBuilder builder;
  builder.info().base_ns = 1'000'000'000;
  builder.info().host_name = host;
  builder.span("cpu_op", "aten::linear", 1, 1, 0, kMillisecond);
  builder.span("user_annotation", "Optimizer.step#SGD.step", 1, 1, 2 * kMillisecond, kMillisecond);
  for (const Call& call : calls) {
    builder.span("cpu_op", "c10d::allreduce_", 1, 1, call.start - 1000, 500);
    builder.span("user_annotation", call.operation, 1, 2, call.start, call.end - call.start);
  }
  if (recorded_until) builder.span("Trace", "PyTorch Profiler (0)", 2, 3, 0, *recorded_until);
  return {number, std::to_string(number), *kSkeleton.map(*builder.build(), {})};
}

constexpr Ns ms(i64 count) { return count * kMillisecond; }

std::vector<u32> members(const JobProgram& job) {
  std::vector<u32> counts;
  for (const JobCall& call : job.calls) counts.push_back(call.members);
  std::ranges::sort(counts);
  return counts;
}

TEST(MissedCalls, WhoStandsStillToTheEndOfItsRecordingIsWaitedFor) {
  const JobProgram job = make_program({rank_of(0, {{ms(10), ms(12)}}, ms(500)),
                                       rank_of(1, {{ms(11), ms(12)}, {ms(20), ms(501)}}, ms(501)),
                                       rank_of(2, {{ms(10), ms(12)}, {ms(22), ms(502)}}, ms(502))});
  ASSERT_EQ(job.missed.size(), 1u);
  EXPECT_EQ(job.missed[0].rank, 0u);
  EXPECT_EQ(job.calls[job.missed[0].call].members, 2u);
  EXPECT_EQ(job.missed[0].waited, ms(500 - 22));
}

TEST(MissedCalls, RecordingsThatBeginWithinAStepAreMatchedByTime) {
  // The others had begun the first call before they were recorded: their first is rank 0's second.
  const JobProgram job = make_program({rank_of(0, {{ms(10), ms(12)}, {ms(20), ms(22)}}, ms(500)),
                                       rank_of(1, {{ms(18), ms(22)}, {ms(30), ms(500)}}, ms(500)),
                                       rank_of(2, {{ms(19), ms(22)}, {ms(31), ms(500)}}, ms(500))});
  EXPECT_EQ(members(job), (std::vector<u32>{1, 2, 3}));
  ASSERT_EQ(job.missed.size(), 1u);
  EXPECT_EQ(job.missed[0].rank, 0u);
  EXPECT_EQ(job.missed[0].waited, ms(500 - 31));
}

TEST(MissedCalls, PlacesCountWhereTimesSayNothing) {
  // Of two hosts, whose clocks may differ; and a broadcast's root does not wait for the others.
  std::vector<Call> first = {{ms(10), ms(12)}, {ms(20), ms(22)}},
                    later = {{ms(20), ms(22)}, {ms(30), ms(32)}};
  const JobProgram hosts = make_program({rank_of(0, first, ms(100)), rank_of(1, later, ms(100), "n1")});
  EXPECT_EQ(members(hosts), (std::vector<u32>{2, 2}));
  for (std::vector<Call>* calls : {&first, &later})
    for (Call& call : *calls) call.operation = "gloo:broadcast";
  const JobProgram broadcasts = make_program({rank_of(0, first, ms(100)), rank_of(1, later, ms(100))});
  EXPECT_EQ(members(broadcasts), (std::vector<u32>{2, 2}));
}

TEST(MissedCalls, WhatEndsWithoutARankIsNoneOfItsCalls) {
  const std::vector<Call> one = {{ms(10), ms(12)}}, more = {{ms(10), ms(12)}, {ms(20), ms(320)}};
  EXPECT_TRUE(make_program({rank_of(0, one, ms(500)), rank_of(1, more, ms(500)), rank_of(2, more, ms(500))})
                  .missed.empty());
}

TEST(MissedCalls, WhoWaitsElsewhereIsNotWaitedFor) {
  // Rank 0 is in a broadcast, whose root has no trace.
  const std::vector<Call> other = {{ms(10), ms(12)}, {ms(20), ms(500), "gloo:broadcast"}},
                          both = {{ms(10), ms(12)}, {ms(20), ms(500)}};
  EXPECT_TRUE(make_program({rank_of(0, other, ms(500)), rank_of(1, both, ms(500)), rank_of(2, both, ms(500))})
                  .missed.empty());
}

TEST(MissedCalls, NobodyIsNamedWhereSeveralAreMissingOrRecordingsDoNotSayHowFarTheyGo) {
  const std::vector<Call> one = {{ms(10), ms(12)}}, both = {{ms(10), ms(12)}, {ms(20), ms(500)}};
  EXPECT_TRUE(make_program({rank_of(0, one, ms(500)), rank_of(1, one, ms(500)), rank_of(2, both, ms(500)),
                            rank_of(3, both, ms(500))})
                  .missed.empty());
  EXPECT_TRUE(make_program({rank_of(0, one, {}), rank_of(1, both, {}), rank_of(2, both, {})}).missed.empty());
  // Its recording ended before the others came there.
  EXPECT_TRUE(make_program({rank_of(0, one, ms(15)), rank_of(1, both, ms(500)), rank_of(2, both, ms(500))})
                  .missed.empty());
  // Of the group nothing is known of it.
  EXPECT_TRUE(make_program({rank_of(0, {}, ms(500)), rank_of(1, both, ms(500)), rank_of(2, both, ms(500))})
                  .missed.empty());
}

}  // namespace
}  // namespace spotter::analyze
