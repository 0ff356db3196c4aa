#include <gtest/gtest.h>

#include <limits>

#include "analyze/list.h"
#include "analyze/test_trace.h"

namespace spotter::analyze {
namespace {

struct Call {
  const char *group, *name;
  i64 sequence;
  Ns start, dur;
  i64 size = 1000, group_size = 2;
  bool is_timed = true;
  double link = 0;
};

// A part as another host may send it.
RankTable part(std::optional<i64> rank, std::vector<Call> calls) {
  Table table("collectives", map_columns(*find_analysis("collectives")));
  for (const Call& c : calls)
    table.append({c.group, c.name, c.sequence, c.start, c.dur, c.is_timed, "float32", c.size, c.group_size,
                  c.group, "", "", c.link});
  return {rank, "path", std::move(table)};
}

Table reduce(const std::vector<RankTable>& tables) {
  const Analysis* analysis = find_analysis("collectives");
  Result<Table> table = analysis->reduce(tables, args_for(*analysis));
  CHECK(table.has_value());
  return std::move(*table);
}

TEST(Collectives, TransferBeginsWhenTheLastRankComes) {
  const Table table = reduce({part(0, {{"g", "allreduce", 1, 100, 50}, {"g", "allreduce", 2, 200, 30}}),
                              part(1, {{"g", "allreduce", 1, 140, 10}, {"g", "allreduce", 2, 190, 40}})});
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(text(table, 0, "operation"), "all_reduce");
  EXPECT_EQ(integer(table, 0, "calls"), 4);
  EXPECT_EQ(integer(table, 0, "ranks"), 2);
  EXPECT_EQ(integer(table, 0, "matched_calls"), 4);
  EXPECT_EQ(integer(table, 0, "time_ns"), 130);
  EXPECT_EQ(integer(table, 0, "wait_ns"), 40 + 10);
  EXPECT_EQ(integer(table, 0, "transfer_ns"), 10 + 10 + 30 + 30);
  EXPECT_DOUBLE_EQ(real(table, 0, "mean_skew_ns"), 25);
  EXPECT_EQ(integer(table, 0, "max_skew_ns"), 40);
  EXPECT_EQ(integer(table, 0, "bytes"), 4000);
  EXPECT_DOUBLE_EQ(real(table, 0, "algorithm_bytes_per_s"), 1000 * 4 / 80e-9);
  EXPECT_DOUBLE_EQ(real(table, 0, "bus_bytes_per_s"), 1000 * 4 / 80e-9);  // 2 (2 - 1) / 2
  EXPECT_TRUE(table.notes.empty());
}

TEST(Collectives, AShareOfALinkIsOfOneThatAllHave) {
  const auto share = [](double first, double second) {
    const auto call = [](Ns start, double link) {
      return Call{"g", "allreduce", 1, start, 50, 1000, 2, true, link};
    };
    const Table table = reduce({part(0, {call(0, first)}), part(1, {call(0, second)})});
    return table.at(0, table.column("link_ratio"));
  };
  EXPECT_DOUBLE_EQ(std::get<double>(share(80e9, 80e9)), 20e9 / 80e9);  // 1000 bytes in 50 ns
  EXPECT_TRUE(is_null(share(80e9, 40e9)));
  EXPECT_TRUE(is_null(share(0, 0)));
}

TEST(Collectives, GroupsOperationsTypesAndSizesAreRows) {
  const Table table = reduce({part(0, {{"g", "allreduce", 1, 0, 9},
                                       {"g", "allreduce", 2, 10, 9, 500},
                                       {"h", "allreduce", 1, 20, 9},
                                       {"g", "broadcast", 3, 30, 9},
                                       {"g", "nccl:all_reduce", 4, 40, 9}})});
  ASSERT_EQ(table.rows(), 4u);
  EXPECT_EQ(integer(table, 0, "calls"), 2);  // both names are one operation
  EXPECT_EQ(table.notes.count("one_rank"), 1);
}

// Ranks of an all-to-all put in as much as each of them has.
TEST(Collectives, ACollectiveOfSeveralSizesIsInEachRow) {
  const Table table = reduce(
      {part(0, {{"g", "all_to_allv", 1, 0, 30, 600}}), part(1, {{"g", "all_to_allv", 1, 10, 20, 400}})});
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(integer(table, 0, "size_bytes"), 600);
  EXPECT_EQ(integer(table, 0, "wait_ns"), 10);
  EXPECT_EQ(integer(table, 0, "transfer_ns"), 20);
  EXPECT_EQ(integer(table, 1, "wait_ns"), 0);
  EXPECT_EQ(integer(table, 1, "transfer_ns"), 20);
  for (const size_t row : {0u, 1u}) EXPECT_EQ(integer(table, row, "max_skew_ns"), 10);
}

TEST(Collectives, WhatOneRankAloneShowsHasNoTransfer) {
  const Table table = reduce({part(0, {{"g", "allreduce", 1, 0, 30}, {"g", "allreduce", 2, 40, 30}}),
                              part(1, {{"g", "allreduce", 1, 10, 20}})});
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(integer(table, 0, "calls"), 3);
  EXPECT_EQ(integer(table, 0, "matched_calls"), 2);
  EXPECT_EQ(integer(table, 0, "time_ns"), 80);
  EXPECT_EQ(integer(table, 0, "transfer_ns"), 40);
  EXPECT_EQ(table.notes.count("unmatched_collectives"), 1);
  const Table one = reduce({part(0, {{"g", "allreduce", 1, 0, 30}})});
  for (const char* column : {"transfer_ns", "wait_ns", "mean_skew_ns", "max_skew_ns", "bus_bytes_per_s"})
    EXPECT_TRUE(is_null(cell(one, 0, column))) << column;
  EXPECT_EQ(integer(one, 0, "time_ns"), 30);
}

TEST(Collectives, AGroupOfOneRankWaitsForNobody) {
  const Table table = reduce({part(0, {{"g", "allreduce", 1, 0, 30, 1000, 1}})});
  EXPECT_EQ(integer(table, 0, "transfer_ns"), 30);
  EXPECT_EQ(integer(table, 0, "wait_ns"), 0);
  EXPECT_DOUBLE_EQ(real(table, 0, "bus_bytes_per_s"), 0);
  EXPECT_TRUE(table.notes.empty());
}

TEST(Collectives, RanksThatAreNotHereAreNoted) {
  const Table table = reduce(
      {part(0, {{"g", "allreduce", 1, 0, 30, 1000, 4}}), part(1, {{"g", "allreduce", 1, 10, 20, 1000, 4}})});
  EXPECT_EQ(integer(table, 0, "transfer_ns"), 40);
  EXPECT_EQ(table.notes.count("missing_members"), 1);
}

// Two groups of two ranks each, of which the traces say nothing but the stream.
TEST(Collectives, GroupsThatTheTracesMixAreNotMatched) {
  std::vector<RankTable> parts;
  for (i64 rank = 0; rank < 4; ++rank)
    parts.push_back(part(rank, {{"stream 20", "allreduce", -1, rank, 30}}));
  const Table table = reduce(parts);
  EXPECT_TRUE(is_null(cell(table, 0, "transfer_ns")));
  EXPECT_EQ(table.notes.count("mixed_groups"), 1);
}

TEST(Collectives, WithoutSizeOrGroupThereIsNoBandwidth) {
  const Table unsized =
      reduce({part(0, {{"g", "allreduce", 1, 0, 30, -1}}), part(1, {{"g", "allreduce", 1, 0, 30, -1}})});
  for (const char* column : {"size_bytes", "bytes", "algorithm_bytes_per_s", "bus_bytes_per_s"})
    EXPECT_TRUE(is_null(cell(unsized, 0, column))) << column;
  const Table ungrouped = reduce(
      {part(0, {{"g", "allreduce", 1, 0, 30, 60, 0}}), part(1, {{"g", "allreduce", 1, 0, 30, 60, 0}})});
  EXPECT_DOUBLE_EQ(real(ungrouped, 0, "algorithm_bytes_per_s"), 2e9);
  EXPECT_TRUE(is_null(cell(ungrouped, 0, "bus_bytes_per_s")));
  EXPECT_TRUE(is_null(cell(ungrouped, 0, "group_size")));
}

TEST(Collectives, LaunchesAloneAreCallsWithoutTime) {
  trace::TraceBuilder builder;
  builder.span("user_annotation", "nccl:all_reduce", 1, 1, 20, 10,
               {{Arg::input_dims, "[[5]]"}, {Arg::input_type, "[\"float\"]"}});
  builder.span("user_annotation", "nccl:send 0->1", 1, 1, 40, 10);
  builder.span("kernel", "gemm", 0, 7, 60, 10);
  Table mapped = run_map("collectives", *builder.build());
  ASSERT_EQ(mapped.rows(), 1u);
  EXPECT_EQ(mapped.notes.count("untimed_collectives"), 1);
  std::vector<RankTable> parts;
  parts.push_back({0, "path", std::move(mapped)});
  const Table table = reduce(parts);
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(text(table, 0, "group"), "nccl");
  EXPECT_EQ(integer(table, 0, "calls"), 1);
  EXPECT_EQ(integer(table, 0, "size_bytes"), 20);
  EXPECT_TRUE(is_null(cell(table, 0, "time_ns")));
}

TEST(Collectives, ImpossibleNumbersAreLeftOutAndSumsDoNotOverflow) {
  constexpr i64 kLeast = std::numeric_limits<i64>::min(), kMost = std::numeric_limits<i64>::max();
  std::vector<Call> early = {{"g", "a", 100, kLeast, 1, kMost, kMost},
                             {"g", "a", 101, 0, -1, kLeast, kLeast}};
  std::vector<Call> late = {{"g", "a", 100, kMost, 1, kMost, kMost}, {"g", "a", 101, 0, kMost, kMost, 2}};
  for (i64 i = 0; i < 8; ++i) {
    early.push_back({"g", "a", i, -kMaxTime, kMaxTime, kMost, 2});
    late.push_back({"g", "a", i, 2 * kMaxTime, kMaxTime, kMost, 2});
  }
  const Table table = reduce({part(0, early), part(1, late), part({}, late)});
  EXPECT_EQ(table.notes.count("impossible_collective"), 4);
  EXPECT_EQ(table.notes.count("no_rank"), 1);
  EXPECT_EQ(integer(table, 0, "time_ns"), kMost);
  EXPECT_EQ(integer(table, 0, "wait_ns"), kMost);
  EXPECT_EQ(integer(table, 0, "bytes"), kMost);
  EXPECT_TRUE(reduce({}).notes.empty());
}

}  // namespace
}  // namespace spotter::analyze
