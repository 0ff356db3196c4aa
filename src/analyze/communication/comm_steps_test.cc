#include <gtest/gtest.h>

#include <limits>

#include "analyze/list.h"
#include "analyze/test_trace.h"

namespace spotter::analyze {
namespace {

// The answer for these traces of ranks 0, 1 ...
Table answer(const std::vector<const Trace*>& traces) {
  const Analysis* analysis = find_analysis("comm_steps");
  std::vector<RankTable> parts;
  for (const Trace* trace : traces) {
    parts.push_back({static_cast<i64>(parts.size()), "path", run_map("comm_steps", *trace)});
  }
  Result<Table> table = analysis->reduce(parts, args_for(*analysis));
  CHECK(table.has_value());
  return std::move(*table);
}

// A step from 0 to 100 with a kernel and an all-reduce.
TracePtr rank_with(Ns kernel_start, Ns kernel_end, Ns start, Ns end) {
  trace::TraceBuilder builder;
  builder.span("user_annotation", "ProfilerStep#4", 1, 1, 0, 100);
  builder.span("kernel", "gemm", 0, 7, kernel_start, kernel_end - kernel_start, {{Arg::stream, i64{7}}});
  builder.span("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 20, start, end - start,
               {{Arg::stream, i64{20}},
                {Arg::collective_name, "allreduce"},
                {Arg::group_name, "0"},
                {Arg::seq, i64{1}}});
  return builder.build();
}

TEST(CommSteps, EachMomentIsOneOfFour) {
  const TracePtr first = rank_with(10, 50, 30, 80), second = rank_with(10, 50, 60, 80);
  const Table table = answer({first.get(), second.get()});
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(integer(table, 0, "number"), 4);
  EXPECT_EQ(integer(table, 0, "compute_ns"), 20);
  EXPECT_EQ(integer(table, 0, "overlap_ns"), 20);
  EXPECT_EQ(integer(table, 0, "exposed_ns"), 30);
  EXPECT_EQ(integer(table, 0, "other_ns"), 30);
  EXPECT_EQ(integer(table, 0, "wait_ns"), 30);
  EXPECT_EQ(integer(table, 0, "transfer_ns"), 20);
  EXPECT_EQ(integer(table, 1, "overlap_ns"), 0);
  EXPECT_EQ(integer(table, 1, "wait_ns"), 0);
  EXPECT_EQ(integer(table, 1, "transfer_ns"), 20);
}

TEST(CommSteps, OfOneRankWaitingIsNotKnown) {
  const TracePtr only = rank_with(10, 50, 30, 80);
  const Table table = answer({only.get()});
  EXPECT_EQ(integer(table, 0, "exposed_ns"), 30);
  EXPECT_TRUE(is_null(cell(table, 0, "transfer_ns")));
  EXPECT_TRUE(is_null(cell(table, 0, "wait_ns")));
  EXPECT_EQ(table.notes.count("one_rank"), 1);
}

TEST(CommSteps, WithoutCollectivesNobodyWaits) {
  trace::TraceBuilder builder;
  builder.span("cpu_op", "aten::mm", 1, 1, 0, 100);
  builder.span("kernel", "gemm", 0, 7, 10, 20);
  const TracePtr trace = builder.build();
  const Table table = answer({trace.get()});
  EXPECT_EQ(integer(table, 0, "transfer_ns"), 0);
  EXPECT_EQ(integer(table, 0, "wait_ns"), 0);
  EXPECT_EQ(integer(table, 0, "other_ns"), 80);
}

TEST(CommSteps, LaunchesAloneDoNotTellTheTimeOfCommunication) {
  trace::TraceBuilder builder;
  builder.span("cpu_op", "aten::mm", 1, 1, 0, 100);
  builder.span("user_annotation", "nccl:all_reduce", 1, 1, 10, 5);
  builder.span("kernel", "gemm", 0, 7, 10, 20);
  const TracePtr trace = builder.build();
  const Table mapped = run_map("comm_steps", *trace);
  EXPECT_EQ(mapped.notes.count("unrecorded_communication"), 1);
  const Table table = answer({trace.get()});
  EXPECT_EQ(integer(table, 0, "compute_ns"), 20);
  EXPECT_EQ(integer(table, 0, "other_ns"), 80);
  for (const char* column : {"overlap_ns", "exposed_ns", "transfer_ns", "wait_ns"})
    EXPECT_TRUE(is_null(cell(table, 0, column))) << column;
}

TEST(CommSteps, PartsAddUpOnAnyTrace) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const TestTrace one = random_trace(seed), two = random_trace(seed + 1000);
    const Table table = answer({one.trace.get(), two.trace.get()});
    for (size_t row = 0; row < table.rows(); ++row) {
      Ns sum = 0;
      for (const char* column : {"compute_ns", "overlap_ns", "exposed_ns", "other_ns"}) {
        EXPECT_GE(integer(table, row, column), 0) << seed << column;
        sum += integer(table, row, column);
      }
      EXPECT_EQ(sum, integer(table, row, "dur_ns")) << seed;
      if (is_null(cell(table, row, "wait_ns"))) continue;
      EXPECT_LE(integer(table, row, "transfer_ns") + integer(table, row, "wait_ns"),
                integer(table, row, "overlap_ns") + integer(table, row, "exposed_ns"))
          << seed;
    }
  }
}

// Another host may send anything.
TEST(CommSteps, NumbersOfOtherHostsDoNotOverflow) {
  constexpr i64 kLeast = std::numeric_limits<i64>::min(), kMost = std::numeric_limits<i64>::max();
  const Analysis* analysis = find_analysis("comm_steps");
  std::vector<RankTable> parts;
  for (i64 rank = 0; rank < 2; ++rank) {
    Table table("comm_steps", map_columns(*analysis));
    for (const i64 n : {kLeast, i64{0}, kMost})
      for (const i64 m : {kMost, i64{-1}, kLeast}) {
        table.append({true, n, n, m, m, n, m, "", "", kLeast, n});
        table.append({false, n, n, m, m, n, m, "g", "allreduce", n, m});
      }
    table.append({false, i64{0}, -kMaxTime, kMaxTime, i64{0}, i64{0}, i64{0}, "g", "a", i64{1}, i64{2}});
    parts.push_back({rank, "path", std::move(table)});
  }
  const Result<Table> table = analysis->reduce(parts, args_for(*analysis));
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->rows(), 18u);
}

}  // namespace
}  // namespace spotter::analyze
