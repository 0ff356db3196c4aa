#include <gtest/gtest.h>

#include "analyze/list.h"
#include "analyze/test_trace.h"

namespace spotter::analyze {
namespace {

RankTable rank_table(std::optional<i64> rank, std::vector<std::pair<const char*, Ns>> kernels) {
  trace::TraceBuilder builder;
  Ns ts = 0;
  for (const auto& [name, dur] : kernels) builder.span("kernel", name, 0, 7, ts += 1000, dur);
  return {rank, "path", run_map("kernel_duration_distribution", *builder.build())};
}

Table reduce(const std::vector<RankTable>& tables, i64 top = 20) {
  const Analysis* analysis = find_analysis("kernel_duration_distribution");
  Result<Table> table = analysis->reduce(tables, args_for(*analysis, {{"top", top}}));
  CHECK(table.has_value());
  return std::move(*table);
}

TEST(KernelDurationDistribution, ComparesRanks) {
  std::vector<RankTable> tables;
  tables.push_back(rank_table(1, {{"gemm", 10}, {"gemm", 30}, {"add", 1}}));
  tables.push_back(rank_table(4, {{"gemm", 50}, {"ncclDevKernel", 5}}));
  tables.push_back(rank_table(6, {{"gemm", 10}}));
  tables.push_back(rank_table(7, {}));
  const Table table = reduce(tables);
  ASSERT_EQ(table.rows(), 3u);
  EXPECT_EQ(text(table, 0, "name"), "gemm");
  EXPECT_EQ(text(table, 0, "kind"), "compute");
  EXPECT_EQ(integer(table, 0, "ranks"), 3);
  EXPECT_EQ(integer(table, 0, "count"), 4);
  EXPECT_DOUBLE_EQ(real(table, 0, "mean_ns"), 25);
  EXPECT_EQ(integer(table, 0, "min_ns"), 10);
  EXPECT_EQ(integer(table, 0, "min_rank"), 1);  // the first of two
  EXPECT_EQ(integer(table, 0, "max_ns"), 50);
  EXPECT_EQ(integer(table, 0, "max_rank"), 4);
  EXPECT_EQ(integer(table, 0, "fastest_rank"), 6);
  EXPECT_DOUBLE_EQ(real(table, 0, "fastest_mean_ns"), 10);
  EXPECT_EQ(integer(table, 0, "slowest_rank"), 4);
  EXPECT_DOUBLE_EQ(real(table, 0, "slowest_mean_ns"), 50);
  EXPECT_EQ(text(table, 1, "name"), "ncclDevKernel");
  EXPECT_EQ(text(table, 1, "kind"), "communication");
  EXPECT_EQ(integer(table, 1, "ranks"), 1);
  EXPECT_EQ(text(table, 2, "name"), "add");
  EXPECT_TRUE(table.notes.empty());
}

TEST(KernelDurationDistribution, OfEqualRanksTheFirstIsNamed) {
  std::vector<RankTable> tables;
  tables.push_back(rank_table(2, {{"gemm", 10}}));
  tables.push_back(rank_table(3, {{"gemm", 10}}));
  const Table table = reduce(tables);
  for (const char* column : {"min_rank", "max_rank", "fastest_rank", "slowest_rank"})
    EXPECT_EQ(integer(table, 0, column), 2) << column;
}

TEST(KernelDurationDistribution, SaysHowManyAreNotListed) {
  std::vector<RankTable> tables;
  tables.push_back(rank_table(0, {{"a", 3}, {"b", 2}, {"c", 1}}));
  const Table table = reduce(tables, 1);
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(text(table, 0, "name"), "a");
  EXPECT_EQ(table.notes.count("rows_left_out"), 2);
  EXPECT_EQ(reduce(tables, 0).rows(), 3u);
}

TEST(KernelDurationDistribution, AFileWithoutRankHasNoNumber) {
  std::vector<RankTable> tables;
  tables.push_back(rank_table({}, {{"a", 3}}));
  EXPECT_TRUE(is_null(cell(reduce(tables), 0, "slowest_rank")));
}

}  // namespace
}  // namespace spotter::analyze
