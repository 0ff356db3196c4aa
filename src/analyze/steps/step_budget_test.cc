#include <gtest/gtest.h>

#include <limits>

#include "analyze/steps/step_parts.h"
#include "analyze/test_trace.h"

namespace spotter::analyze {
namespace {

Table reduce(const std::vector<RankTable>& parts) {
  const Analysis* analysis = find_analysis("step_budget");
  Result<Table> table = analysis->reduce(parts, args_for(*analysis));
  CHECK(table.has_value());
  return std::move(*table);
}

i64 sum_of_first(const Table& table, size_t row, size_t parts) {
  i64 sum = 0;
  for (size_t p = 0; p < parts; ++p)
    if (const Value value = cell(table, row, kStepPartFields[p].name); !is_null(value))
      sum += std::get<i64>(value);
  return sum;
}

// What bounds a moment is so at that moment, and step_breakdown takes the first of what is.
TEST(StepBudget, PartsAddUpAndAreAtMostStepBreakdowns) {
  size_t rows = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const TestTrace t = random_trace(seed);
    const Table breakdown = run_map("step_breakdown", *t.trace);
    const Table budget = reduce({{std::nullopt, "path", run_map("step_budget", *t.trace)}});
    ASSERT_EQ(budget.rows(), breakdown.rows()) << seed;
    for (size_t row = 0; row < budget.rows(); ++row, ++rows) {
      ASSERT_EQ(integer(budget, row, "dur_ns"), integer(breakdown, row, "dur_ns")) << seed;
      ASSERT_EQ(sum_of_first(budget, row, kStepParts), integer(budget, row, "dur_ns")) << seed;
      ASSERT_LE(integer(budget, row, "latency_ns"), integer(budget, row, "other_ns")) << seed;
      for (size_t parts = 1; parts < kStepParts; ++parts)
        ASSERT_LE(sum_of_first(budget, row, parts), sum_of_first(breakdown, row, parts)) << seed;
    }
  }
  EXPECT_GT(rows, 1000u);
}

// A row of a rank's table, as it may come from another host.
struct Part {
  i64 number, start, dur;
  std::string_view pieces = "";
};
RankTable rank_table(i64 rank, std::initializer_list<Part> rows) {
  Table table("step_budget", find_analysis("step_budget")->part_columns);
  for (const Part& row : rows) table.append({row.number, row.start, row.dur, true, row.pieces});
  return {rank, "path", std::move(table)};
}

TEST(StepBudget, TheJobsStepIsTheLastRanks) {
  const Table table = reduce({rank_table(0, {{0, 0, 100, "k60l40"}, {1, 100, 80, "h80"}}),
                              rank_table(1, {{0, 20, 100, "h70o30"}, {1, 120, 60, "c60"}})});
  ASSERT_EQ(table.rows(), 6u);
  EXPECT_EQ(text(table, 0, "of"), "job");
  EXPECT_EQ(integer(table, 0, "rank"), 1);
  EXPECT_EQ(integer(table, 0, "start_ns"), 0);
  EXPECT_EQ(integer(table, 0, "dur_ns"), 120);
  EXPECT_EQ(integer(table, 0, "host_ns"), 70);
  EXPECT_EQ(integer(table, 0, "other_ns"), 50);  // 20 of it before the rank's step
  EXPECT_EQ(integer(table, 0, "latency_ns"), 0);
  EXPECT_EQ(integer(table, 1, "rank"), 0);  // the lowest of those that end together
  EXPECT_EQ(integer(table, 1, "start_ns"), 120);
  EXPECT_EQ(integer(table, 1, "dur_ns"), 60);
  EXPECT_EQ(integer(table, 1, "host_ns"), 60);
  EXPECT_EQ(integer(table, 2, "latency_ns"), 40);
  EXPECT_EQ(integer(table, 2, "other_ns"), 40);
}

TEST(StepBudget, StepsOfOneNumberAreMatchedInOrder) {
  const RankTable twice = rank_table(0, {{5, 0, 10}, {5, 50, 10}}),
                  again = rank_table(1, {{5, 0, 12}, {5, 49, 12}}), once = rank_table(2, {{5, 0, 12}});
  EXPECT_EQ(integer(reduce({twice, again}), 1, "start_ns"), 49);
  const Table partial = reduce({twice, again, once});
  EXPECT_EQ(text(partial, 1, "of"), "rank");
  EXPECT_EQ(partial.notes.count("partial_steps"), 1);
}

TEST(StepBudget, TablesOfOtherHostsMayHoldAnything) {
  constexpr i64 kMost = std::numeric_limits<i64>::max(), kLeast = std::numeric_limits<i64>::min();
  const Table table = reduce({rank_table(0, {{0, kLeast, kMost, "k9223372036854775807z7"},
                                             {0, kMost, kMost, "99999999999999999999999"}}),
                              rank_table(1, {{0, kMost, kLeast, "k"}, {0, kMost, -1, "\xff-l-h"}})});
  EXPECT_EQ(table.rows(), 6u);
}

}  // namespace
}  // namespace spotter::analyze
