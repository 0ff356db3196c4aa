#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "analyze/test_trace.h"

namespace spotter::analyze {
namespace {

struct Expected {
  std::string kind, name;
  std::vector<Ns> durations;
  Ns sum() const {
    Ns total = 0;
    for (Ns d : durations) total += d;
    return total;
  }
};

std::vector<Expected> expected_of(const TestTrace& t) {
  std::map<std::string, Expected> by_name;
  for (const DeviceSpan& s : t.device) {
    Expected& e = by_name[s.name];
    e.kind = s.kind;
    e.name = s.name;
    e.durations.push_back(s.end - s.start);
  }
  std::vector<Expected> sorted;
  for (const auto& [name, e] : by_name) sorted.push_back(e);
  std::sort(sorted.begin(), sorted.end(), [](const Expected& a, const Expected& b) {
    return std::pair(-a.sum(), a.name) < std::pair(-b.sum(), b.name);
  });
  return sorted;
}

void expect_row(const Table& table, size_t row, const Expected& e, Ns total) {
  const auto n = static_cast<double>(e.durations.size());
  const double mean = static_cast<double>(e.sum()) / n;
  double squares = 0;
  for (Ns d : e.durations) squares += std::pow(static_cast<double>(d) - mean, 2);
  EXPECT_EQ(text(table, row, "name"), e.name);
  if (e.kind.empty())
    EXPECT_TRUE(is_null(cell(table, row, "kind")));
  else
    EXPECT_EQ(text(table, row, "kind"), e.kind);
  EXPECT_EQ(integer(table, row, "count"), static_cast<i64>(e.durations.size()));
  EXPECT_EQ(integer(table, row, "sum_ns"), e.sum());
  EXPECT_EQ(integer(table, row, "min_ns"), *std::min_element(e.durations.begin(), e.durations.end()));
  EXPECT_EQ(integer(table, row, "max_ns"), *std::max_element(e.durations.begin(), e.durations.end()));
  EXPECT_DOUBLE_EQ(real(table, row, "mean_ns"), mean);
  EXPECT_NEAR(real(table, row, "std_ns"), n < 2 ? 0 : std::sqrt(squares / (n - 1)), 1e-9);
  if (total == 0)
    EXPECT_TRUE(is_null(cell(table, row, "ratio")));
  else
    EXPECT_DOUBLE_EQ(real(table, row, "ratio"), static_cast<double>(e.sum()) / static_cast<double>(total));
}

TEST(KernelBreakdown, AgreesWithPlainLoops) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    for (const size_t top : {size_t{0}, size_t{1}, size_t{3}, size_t{20}}) {
      SCOPED_TRACE(fmt::format("seed {}, top {}", seed, top));
      const TestTrace t = random_trace(seed);
      std::vector<Expected> expected = expected_of(t);
      Ns total = 0;
      for (const Expected& e : expected) total += e.sum();
      if (top != 0 && expected.size() > top) {
        Expected others{"", "others", {}};
        for (size_t i = top; i < expected.size(); ++i)
          others.durations.insert(others.durations.end(), expected[i].durations.begin(),
                                  expected[i].durations.end());
        expected.resize(top);
        expected.push_back(others);
      }
      const Table table = run_map("kernel_breakdown", *t.trace, {{"top", static_cast<i64>(top)}});
      ASSERT_EQ(table.rows(), expected.size());
      for (size_t row = 0; row < expected.size(); ++row) expect_row(table, row, expected[row], total);
    }
  }
}

TEST(KernelBreakdown, OneNameOfTwoKindsIsTwoKernels) {
  trace::TraceBuilder builder;
  builder.span("kernel", "fused", 0, 7, 0, 10);
  builder.span("kernel", "fused", 0, 7, 20, 30, {{Arg::collective_name, std::string("allreduce")}});
  const Table table = run_map("kernel_breakdown", *builder.build());
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(text(table, 0, "kind"), "communication");
  EXPECT_EQ(integer(table, 0, "sum_ns"), 30);
  EXPECT_EQ(text(table, 1, "kind"), "compute");
  EXPECT_EQ(integer(table, 1, "sum_ns"), 10);
}

}  // namespace
}  // namespace spotter::analyze
