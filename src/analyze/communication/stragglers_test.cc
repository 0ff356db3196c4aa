#include <gtest/gtest.h>

#include <limits>

#include "analyze/communication/collective_calls.h"
#include "analyze/list.h"
#include "analyze/test_trace.h"

namespace spotter::analyze {
namespace {

struct PartRow {
  const char *group, *name;
  i64 sequence;
  Ns start, dur;
  i64 group_size = 0;
};

// A part as another host may send it.
RankTable part(std::optional<i64> rank, std::vector<PartRow> rows) {
  Table table("stragglers", map_columns(*find_analysis("stragglers")));
  for (const PartRow& row : rows)
    table.append({row.group, row.name, row.sequence, row.start, row.dur, row.group_size});
  return {rank, "path", std::move(table)};
}

Table reduce(const std::vector<RankTable>& tables) {
  const Analysis* analysis = find_analysis("stragglers");
  Result<Table> table = analysis->reduce(tables, args_for(*analysis));
  CHECK(table.has_value());
  return std::move(*table);
}

TEST(Stragglers, TheLastToStartMakesTheOthersWait) {
  const Table table = reduce({part(0, {{"g", "a", 1, 100, 50}, {"g", "a", 2, 200, 10}}),
                              part(2, {{"g", "a", 1, 110, 40}, {"g", "a", 2, 205, 5}}),
                              part(5, {{"g", "a", 1, 130, 20}, {"g", "a", 2, 201, 9}})});
  ASSERT_EQ(table.rows(), 3u);
  EXPECT_EQ(integer(table, 0, "rank"), 5);
  EXPECT_EQ(integer(table, 0, "caused_wait_ns"), 30 + 20);
  EXPECT_EQ(integer(table, 0, "own_wait_ns"), 4);
  EXPECT_EQ(integer(table, 0, "last_count"), 1);
  EXPECT_DOUBLE_EQ(real(table, 0, "last_ratio"), 0.5);
  EXPECT_DOUBLE_EQ(real(table, 0, "mean_late_ns"), 15.5);
  EXPECT_DOUBLE_EQ(real(table, 0, "median_late_ns"), 15.5);
  EXPECT_EQ(integer(table, 0, "max_late_ns"), 30);
  EXPECT_EQ(integer(table, 1, "rank"), 2);
  EXPECT_EQ(integer(table, 1, "caused_wait_ns"), 5 + 4);
  EXPECT_EQ(integer(table, 1, "own_wait_ns"), 20);
  EXPECT_EQ(integer(table, 2, "rank"), 0);
  EXPECT_EQ(integer(table, 2, "caused_wait_ns"), 0);
  EXPECT_EQ(integer(table, 2, "own_wait_ns"), 30 + 5);
  EXPECT_TRUE(table.notes.empty());
}

// Traces of PyTorch before 2.4 do not name groups: what two of them do at a time looks like one.
TEST(Stragglers, WhatMoreRanksMatchThanTheGroupHasIsLeftOut) {
  const Table table =
      reduce({part(0, {{"stream 7", "a", kNoSequence, 100, 50, 2}, {"g", "b", 1, 200, 9, 3}}),
              part(1, {{"stream 7", "a", kNoSequence, 110, 40, 2}, {"g", "b", 1, 203, 6, 3}}),
              part(2, {{"stream 7", "a", kNoSequence, 120, 30, 2}}), part(3, {{"one", "c", 1, 120, 30, 1}})});
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(integer(table, 0, "rank"), 1);
  EXPECT_EQ(integer(table, 0, "caused_wait_ns"), 3);
  EXPECT_EQ(integer(table, 0, "collectives"), 1);
  EXPECT_EQ(table.notes.count("mixed_groups"), 1);
  EXPECT_EQ(table.notes.count("missing_members"), 1);
  EXPECT_EQ(table.notes.count("unmatched_collectives"), 0);
}

TEST(Stragglers, AWaitEndsWithTheRunAndClocksThatDifferAreNoted) {
  const Table table = reduce({part(0, {{"g", "a", 1, 100, 10}}), part(1, {{"g", "a", 1, 900, 10}})});
  EXPECT_EQ(integer(table, 0, "rank"), 1);
  EXPECT_EQ(integer(table, 0, "caused_wait_ns"), 10);
  EXPECT_EQ(integer(table, 0, "max_late_ns"), 800);
  EXPECT_EQ(table.notes.count("collectives_apart"), 1);
}

TEST(Stragglers, OfEqualsTheLowestRankIsLast) {
  const Table table = reduce(
      {part(0, {{"g", "a", 1, 0, 100}}), part(1, {{"g", "a", 1, 50, 50}}), part(2, {{"g", "a", 1, 50, 50}})});
  EXPECT_EQ(integer(table, 0, "rank"), 1);
  EXPECT_EQ(integer(table, 0, "last_count"), 1);
  EXPECT_EQ(integer(table, 1, "rank"), 0);
  EXPECT_EQ(integer(table, 2, "last_count"), 0);
}

TEST(Stragglers, GroupsNamesAndNumbersKeepCollectivesApart) {
  const Table table =
      reduce({part(0, {{"g", "a", 1, 0, 9}, {"h", "a", 2, 0, 9}, {"g", "b", 3, 0, 9}, {"g", "a", 4, 0, 9}}),
              part(1, {{"h", "a", 1, 1, 9}, {"g", "a", 2, 1, 9}, {"g", "a", 3, 1, 9}, {"g", "a", 4, 1, 9}})});
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(integer(table, 0, "collectives"), 1);
  EXPECT_EQ(table.notes.count("unmatched_collectives"), 6);
}

TEST(Stragglers, CoalescedCallsOfOneNumberMatchInOrder) {
  const Table table = reduce({part(0, {{"g", "a", 1, 0, 10}, {"g", "a", 1, 10, 10}}),
                              part(1, {{"g", "a", 1, 4, 6}, {"g", "a", 1, 12, 8}})});
  EXPECT_EQ(integer(table, 0, "collectives"), 2);
  EXPECT_EQ(integer(table, 0, "caused_wait_ns"), 4 + 2);
}

// Rank 1 begins a collective later than rank 0, and its runs overlap each other.
TEST(Stragglers, WithoutNumbersRunsMatchThatOverlap) {
  const Table table =
      reduce({part(0, {{"", "a", -1, 0, 10}, {"", "a", -1, 100, 20}, {"", "a", -1, 130, 10}}),
              part(1, {{"", "a", -1, 90, 30}, {"", "a", -1, 95, 45}, {"", "a", -1, 500, 10}})});
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(integer(table, 0, "rank"), 0);
  EXPECT_EQ(integer(table, 0, "collectives"), 2);
  EXPECT_EQ(integer(table, 0, "caused_wait_ns"), 10 + 35);
  EXPECT_EQ(table.notes.count("unmatched_collectives"), 2);
  EXPECT_EQ(table.notes.count("collectives_apart"), 0);
}

TEST(Stragglers, ImpossibleTimesAreLeftOutAndSumsDoNotOverflow) {
  constexpr i64 kLeast = std::numeric_limits<i64>::min(), kMost = std::numeric_limits<i64>::max();
  std::vector<PartRow> early = {
      {"g", "a", 100, kLeast, 1}, {"g", "a", 101, 0, -1}, {"g", "a", kLeast, kMost, kMost}};
  std::vector<PartRow> late = {{"g", "a", 100, kMost, 1}, {"g", "a", 101, 0, kMost}};
  for (i64 i = 0; i < 8; ++i) {
    early.push_back({"g", "a", i, -kMaxTime, kMaxTime});
    late.push_back({"g", "a", i, 2 * kMaxTime, kMaxTime});
  }
  const Table table = reduce({part(0, early), part(1, late)});
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(integer(table, 0, "caused_wait_ns"), kMost);
  EXPECT_EQ(integer(table, 0, "max_late_ns"), 3 * kMaxTime);
  EXPECT_EQ(table.notes.count("impossible_collective"), 5);
}

TEST(Stragglers, TakesTwoRanks) {
  const Table one = reduce({part(0, {{"g", "a", 1, 0, 9}}), part({}, {{"g", "a", 1, 1, 9}})});
  EXPECT_EQ(one.rows(), 0u);
  EXPECT_EQ(one.notes.count("no_rank"), 1);
  EXPECT_EQ(one.notes.count("one_rank"), 1);
  EXPECT_TRUE(reduce({}).notes.empty());
}

TEST(Stragglers, TakesKernelsNotCopiesNorSends) {
  trace::TraceBuilder builder;
  builder.info().base_ns = 1'000'000;
  builder.span("user_annotation", "nccl:send 0->1", 1, 1, 0, 10);
  builder.span("cuda_runtime", "cudaLaunchKernel", 1, 1, 2, 1, {{Arg::correlation, i64{1}}});
  builder.span("user_annotation", "nccl:all_to_all", 1, 1, 20, 10);
  builder.span("cuda_runtime", "cudaLaunchKernel", 1, 1, 22, 1, {{Arg::correlation, i64{2}}});
  builder.span("user_annotation", "gloo:broadcast", 1, 2, 20, 10);
  builder.span("kernel", "ncclKernel_SendRecv", 0, 20, 5, 4, {{Arg::correlation, i64{1}}});
  builder.span("kernel", "ncclKernel_SendRecv", 0, 20, 25, 4, {{Arg::correlation, i64{2}}});
  builder.span("kernel", "ncclKernel_SendRecv", 0, 20, 35, 4);
  builder.span("kernel", "ncclDevKernel_SendRecv", 0, 20, 45, 4, {{Arg::collective_name, "recv"}});
  builder.span("kernel", "ncclDevKernel_AllReduce", 0, 20, 55, 4,
               {{Arg::collective_name, "allreduce"},
                {Arg::group_name, i64{3}},
                {Arg::group_ranks, "[0, 1]"},
                {Arg::seq, i64{7}}});
  builder.span("gpu_memcpy", "Memcpy PtoP", 0, 20, 65, 4, {{Arg::collective_name, "allreduce"}});
  builder.span("kernel", "ncclDevKernel_SendRecv", 0, 20, 70, 4, {{Arg::collective_name, "coalesced"}});
  builder.span("kernel", "gemm", 0, 20, 75, 4);
  const Table table = run_map("stragglers", *builder.build());
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(text(table, 0, "group"), "stream 20");
  EXPECT_EQ(text(table, 0, "name"), "nccl:all_to_all");
  EXPECT_EQ(integer(table, 0, "sequence"), -1);
  EXPECT_EQ(integer(table, 0, "start_ns"), 1'000'025);
  EXPECT_EQ(integer(table, 0, "dur_ns"), 4);
  EXPECT_EQ(text(table, 1, "group"), " 3 [0, 1]");
  EXPECT_EQ(text(table, 1, "name"), "allreduce");
  EXPECT_EQ(integer(table, 1, "sequence"), 7);
  EXPECT_EQ(table.notes.count("unclear_collectives"), 2);
}

TEST(Stragglers, WithoutDeviceCollectivesTakesThoseOfTheHost) {
  trace::TraceBuilder builder;
  builder.span("user_annotation", "gloo:all_reduce", 1, 2, 20, 10);
  builder.span("user_annotation", "gloo:send", 1, 2, 40, 10);
  builder.span("cpu_op", "c10d::allreduce_", 1, 1, 10, 30);
  const Table table = run_map("stragglers", *builder.build());
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(text(table, 0, "name"), "gloo:all_reduce");
  EXPECT_EQ(run_map("stragglers", *trace::TraceBuilder().build()).notes.count("no_collectives"), 1);
}

}  // namespace
}  // namespace spotter::analyze
