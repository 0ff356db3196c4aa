#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "analyze/test_trace.h"

namespace spotter::analyze {
namespace {

struct Totals {
  i64 calls = 0;
  Ns host_total = 0, host_self = 0, device_total = 0, device_self = 0;
};

// Host spans of a trace with everything that encloses each of them, found by comparing all pairs.
class Oracle {
 public:
  explicit Oracle(const TestTrace& t) : host_(t.host), device_(t.device) {}

  std::map<std::string, Totals> totals() const {
    std::map<std::string, Totals> all;
    for (size_t i = 0; i < host_.size(); ++i) {
      if (!is_operator(i)) continue;
      Totals& t = all[host_[i].name];
      ++t.calls;
      Ns self = length(i);
      for (size_t j = 0; j < host_.size(); ++j)
        if ((is_operator(j) || is_call(j)) && nearest(j, true) == i) self -= length(j);
      t.host_self += std::max<Ns>(self, 0);
      Ns device_total = 0;
      for (const DeviceSpan& d : device_) {
        if (!d.launch) continue;
        if (nearest(*d.launch, false) == i) t.device_self += d.end - d.start;
        if (is_below(*d.launch, i)) device_total += d.end - d.start;
      }
      if (is_recursive(i)) continue;
      t.host_total += length(i);
      t.device_total += device_total;
    }
    return all;
  }

 private:
  static constexpr size_t kNothing = ~size_t{0};
  bool is_operator(size_t i) const { return host_[i].category == "cpu_op"; }
  bool is_call(size_t i) const { return host_[i].category.starts_with("cuda_"); }
  Ns length(size_t i) const { return host_[i].end - host_[i].start; }

  // Place in the order of nesting.h.
  auto place(size_t i) const {
    const HostSpan& s = host_[i];
    const int depth = s.category == "user_annotation"   ? 0
                      : s.category == "python_function" ? 1
                      : is_operator(i)                  ? 2
                                                        : 3;
    return std::tuple(s.start, -s.end, depth, i);
  }
  size_t parent(size_t i) const {
    size_t best = kNothing;
    for (size_t j = 0; j < host_.size(); ++j) {
      const bool contains =
          host_[j].thread == host_[i].thread && place(j) < place(i) && host_[i].end <= host_[j].end;
      if (contains && (best == kNothing || place(best) < place(j))) best = j;
    }
    return best;
  }
  // The nearest operator around i, or the nearest operator or host call.
  size_t nearest(size_t i, bool or_call) const {
    for (i = parent(i); i != kNothing; i = parent(i))
      if (is_operator(i) || (or_call && is_call(i))) return i;
    return kNothing;
  }
  bool is_below(size_t i, size_t ancestor) const {
    for (i = parent(i); i != kNothing; i = parent(i))
      if (i == ancestor) return true;
    return false;
  }
  bool is_recursive(size_t i) const {
    for (size_t j = parent(i); j != kNothing; j = parent(j))
      if (is_operator(j) && host_[j].name == host_[i].name) return true;
    return false;
  }

  const std::vector<HostSpan>& host_;
  const std::vector<DeviceSpan>& device_;
};

TEST(Operators, AgreeWithAComparisonOfAllPairs) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const TestTrace t = random_trace(seed);
    const std::map<std::string, Totals> expected = Oracle(t).totals();
    const Table table = run_map("operators", *t.trace, {{"top", 0}});
    ASSERT_EQ(table.rows(), expected.size());
    for (size_t row = 0; row < table.rows(); ++row) {
      const Totals& e = expected.at(text(table, row, "name"));
      EXPECT_EQ(integer(table, row, "calls"), e.calls);
      EXPECT_EQ(integer(table, row, "host_total_ns"), e.host_total);
      EXPECT_EQ(integer(table, row, "host_self_ns"), e.host_self);
      EXPECT_EQ(integer(table, row, "device_total_ns"), e.device_total);
      EXPECT_EQ(integer(table, row, "device_self_ns"), e.device_self);
      if (row > 0) {
        EXPECT_GE(
            std::tuple(integer(table, row - 1, "device_self_ns"), integer(table, row - 1, "host_self_ns")),
            std::tuple(integer(table, row, "device_self_ns"), integer(table, row, "host_self_ns")));
      }
    }
  }
}

// linear [0,100) > Python frame > addmm [10,60) > launch [20,30) of a kernel of 200;  linear > launch [70,75)
// of 7
TracePtr nested() {
  trace::TraceBuilder b;
  b.span("cpu_op", "linear", 1, 1, 0, 100);
  b.span("python_function", "forward", 1, 1, 5, 60);
  b.span("cpu_op", "addmm", 1, 1, 10, 50);
  b.span("cuda_runtime", "cudaLaunchKernel", 1, 1, 20, 10, {{Arg::correlation, i64{1}}});
  b.span("cuda_runtime", "cudaMemcpyAsync", 1, 1, 70, 5, {{Arg::correlation, i64{2}}});
  b.span("kernel", "gemm", 0, 7, 40, 200, {{Arg::correlation, i64{1}}});
  b.span("gpu_memcpy", "Memcpy HtoD", 0, 7, 300, 7, {{Arg::correlation, i64{2}}});
  return b.build();
}

TEST(Operators, PythonFramesAreTransparentAndHostCallsAreNobodysSelfTime) {
  const Table table = run_map("operators", *nested());
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(text(table, 0, "name"), "addmm");
  EXPECT_EQ(integer(table, 0, "host_self_ns"), 40);
  EXPECT_EQ(integer(table, 0, "device_self_ns"), 200);
  EXPECT_EQ(integer(table, 0, "device_total_ns"), 200);
  EXPECT_EQ(text(table, 1, "name"), "linear");
  EXPECT_EQ(integer(table, 1, "host_total_ns"), 100);
  EXPECT_EQ(integer(table, 1, "host_self_ns"), 45);  // 100 - addmm 50 - copy call 5
  EXPECT_EQ(integer(table, 1, "device_self_ns"), 7);
  EXPECT_EQ(integer(table, 1, "device_total_ns"), 207);
}

TEST(Operators, DeviceTimeReachesEveryEnclosingOperator) {
  trace::TraceBuilder b;
  b.span("cpu_op", "outer", 1, 1, 0, 100);
  b.span("cpu_op", "middle", 1, 1, 10, 80);
  b.span("cuda_runtime", "cudaGraphLaunch", 1, 1, 20, 60);  // operators run inside this call
  b.span("cpu_op", "inner", 1, 1, 30, 40);
  b.span("cuda_driver", "cuLaunchKernel", 1, 1, 40, 10, {{Arg::correlation, i64{1}}});
  b.span("kernel", "gemm", 0, 7, 200, 9, {{Arg::correlation, i64{1}}});
  const Table table = run_map("operators", *b.build());
  ASSERT_EQ(table.rows(), 3u);
  const std::map<std::string, std::pair<Ns, Ns>> expected = {
      {"inner", {9, 30}}, {"middle", {0, 20}}, {"outer", {0, 20}}};
  for (size_t row = 0; row < 3; ++row) {
    const auto& [device_self, host_self] = expected.at(text(table, row, "name"));
    EXPECT_EQ(integer(table, row, "device_total_ns"), 9);
    EXPECT_EQ(integer(table, row, "device_self_ns"), device_self);
    EXPECT_EQ(integer(table, row, "host_self_ns"), host_self);
  }
}

TEST(Operators, RecursionCountsOnceInTotals) {
  trace::TraceBuilder b;
  b.span("cpu_op", "f", 1, 1, 0, 100);
  b.span("cpu_op", "f", 1, 1, 10, 50);
  b.span("cuda_runtime", "cudaLaunchKernel", 1, 1, 20, 10, {{Arg::correlation, i64{1}}});
  b.span("kernel", "gemm", 0, 7, 40, 200, {{Arg::correlation, i64{1}}});
  b.span("cpu_op", "f", 1, 2, 0, 30);  // another thread
  const Table table = run_map("operators", *b.build());
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(integer(table, 0, "calls"), 3);
  EXPECT_EQ(integer(table, 0, "host_total_ns"), 130);
  EXPECT_EQ(integer(table, 0, "host_self_ns"), 50 + 40 + 30);
  EXPECT_EQ(integer(table, 0, "device_total_ns"), 200);
  EXPECT_EQ(integer(table, 0, "device_self_ns"), 200);
}

TEST(Operators, TheRestIsFoldedWithoutTotals) {
  const Table table = run_map("operators", *nested(), {{"top", 1}});
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(text(table, 1, "name"), "others");
  EXPECT_EQ(integer(table, 1, "calls"), 1);
  EXPECT_EQ(integer(table, 1, "host_self_ns"), 45);
  EXPECT_EQ(integer(table, 1, "device_self_ns"), 7);
  EXPECT_TRUE(is_null(cell(table, 1, "host_total_ns")));
  EXPECT_TRUE(is_null(cell(table, 1, "device_total_ns")));
}

TEST(Operators, LaunchesOutsideOperatorsAreNoted) {
  trace::TraceBuilder b;
  b.span("cpu_op", "f", 1, 1, 0, 10);
  b.span("cuda_runtime", "cudaLaunchKernel", 1, 1, 20, 10, {{Arg::correlation, i64{1}}});
  b.span("kernel", "gemm", 0, 7, 40, 200, {{Arg::correlation, i64{1}}});
  const Table table = run_map("operators", *b.build());
  EXPECT_EQ(integer(table, 0, "device_total_ns"), 0);
  EXPECT_EQ(table.notes.count("launch_outside_operators"), 1);
}

TEST(Operators, AnnotationsAloneGiveNoRows) {
  trace::TraceBuilder b;
  b.span("user_annotation", "step", 1, 1, 0, 10);
  const Table table = run_map("operators", *b.build());
  EXPECT_EQ(table.rows(), 0u);
  EXPECT_EQ(table.notes.count("no_operators"), 1);
}

}  // namespace
}  // namespace spotter::analyze
