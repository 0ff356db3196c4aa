// Both idle analyses, against plain loops and a count nanosecond by nanosecond.
#include "analyze/time/idle_gaps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <tuple>

#include "analyze/test_trace.h"
#include "table/ops.h"

namespace spotter::analyze {
namespace {

using StreamKey = std::pair<i64, i64>;

struct Expected {
  i64 rows = 0, overlapping = 0, unlaunched = 0;
  Ns busy = 0, span = 0;
  std::map<std::string, std::vector<Ns>> gaps;
};

std::map<StreamKey, Expected> expected_of(const TestTrace& t, Ns delay) {
  std::map<StreamKey, std::map<std::tuple<Ns, Ns, size_t>, DeviceSpan>> streams;  // by start, end, row
  for (size_t i = 0; i < t.device.size(); ++i) {
    const DeviceSpan& s = t.device[i];
    streams[{s.device, s.stream}][{s.start, s.end, i}] = s;
  }
  std::map<StreamKey, Expected> all;
  for (const auto& [key, ordered] : streams) {
    std::vector<DeviceSpan> spans;
    for (const auto& [place, span] : ordered) spans.push_back(span);
    Expected& e = all[key];
    e.rows = static_cast<i64>(spans.size());
    const auto runs_at = [&](Ns time, size_t before) {
      return std::any_of(spans.begin(), spans.begin() + static_cast<std::ptrdiff_t>(before),
                         [&](const DeviceSpan& s) { return s.start <= time && time < s.end; });
    };
    Ns end = spans[0].end;
    for (size_t i = 0; i < spans.size(); ++i) {
      e.unlaunched += !spans[i].launch;
      if (i > 0) {
        Ns gap = 0;
        for (Ns time = end; time < spans[i].start; ++time) gap += !runs_at(time, i);
        const bool overlaps = spans[i].start < end;
        e.overlapping += overlaps;
        const bool late = spans[i].launch && t.host[*spans[i].launch].start > end && !overlaps;
        e.gaps[late ? "host_wait" : gap < delay ? "kernel_wait" : "other"].push_back(gap);
      }
      end = std::max(end, spans[i].end);
    }
    e.span = end - spans[0].start;
    for (Ns time = spans[0].start; time < end; ++time) e.busy += runs_at(time, spans.size());
  }
  return all;
}

Ns sum(const std::vector<Ns>& values) {
  Ns total = 0;
  for (Ns v : values) total += v;
  return total;
}

TEST(IdleTimeBreakdown, AgreesWithPlainLoops) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const TestTrace t = random_trace(seed);
    const Ns delay = 5;
    std::map<StreamKey, Expected> expected = expected_of(t, delay);
    const Table table = run_map("idle_time_breakdown", *t.trace, {{"consecutive_kernel_delay_ns", delay}});
    ASSERT_EQ(table.rows(), expected.size());
    size_t row = 0;
    for (auto& [key, e] : expected) {
      EXPECT_EQ(integer(table, row, "device"), key.first);
      EXPECT_EQ(integer(table, row, "stream"), key.second);
      EXPECT_EQ(integer(table, row, "rows"), e.rows);
      EXPECT_EQ(integer(table, row, "busy_ns"), e.busy);
      EXPECT_EQ(integer(table, row, "span_ns"), e.span);
      EXPECT_EQ(integer(table, row, "idle_ns"), e.span - e.busy);
      EXPECT_EQ(integer(table, row, "overlapping_rows"), e.overlapping);
      EXPECT_EQ(integer(table, row, "unlaunched_rows"), e.unlaunched);
      for (const char* category : {"host_wait", "kernel_wait", "other"}) {
        const std::string name = category;
        EXPECT_EQ(integer(table, row, name + "_ns"), sum(e.gaps[name])) << name;
        EXPECT_EQ(integer(table, row, name + "_count"), static_cast<i64>(e.gaps[name].size())) << name;
        if (e.span == e.busy)
          EXPECT_TRUE(is_null(cell(table, row, name + "_ratio")));
        else
          EXPECT_DOUBLE_EQ(real(table, row, name + "_ratio"),
                           static_cast<double>(sum(e.gaps[name])) / static_cast<double>(e.span - e.busy));
      }
      ++row;
    }
  }
}

TEST(IdleIntervalStatistics, AreThoseOfTheGaps) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const TestTrace t = random_trace(seed);
    const Table table = run_map("idle_interval_statistics", *t.trace, {{"consecutive_kernel_delay_ns", 5}});
    size_t row = 0;
    for (auto& [key, e] : expected_of(t, 5)) {
      for (auto& [category, gaps] : e.gaps) {
        ASSERT_LT(row, table.rows());
        std::sort(gaps.begin(), gaps.end());
        const auto n = static_cast<double>(gaps.size());
        const double mean = static_cast<double>(sum(gaps)) / n;
        double squares = 0;
        for (Ns gap : gaps) squares += std::pow(static_cast<double>(gap) - mean, 2);
        EXPECT_EQ(integer(table, row, "device"), key.first);
        EXPECT_EQ(integer(table, row, "stream"), key.second);
        EXPECT_EQ(text(table, row, "idle_category"), category);
        EXPECT_EQ(integer(table, row, "count"), static_cast<i64>(gaps.size()));
        EXPECT_DOUBLE_EQ(real(table, row, "mean_ns"), mean);
        EXPECT_NEAR(real(table, row, "std_ns"), n < 2 ? 0 : std::sqrt(squares / (n - 1)), 1e-9);
        EXPECT_EQ(integer(table, row, "min_ns"), gaps.front());
        EXPECT_EQ(integer(table, row, "max_ns"), gaps.back());
        EXPECT_DOUBLE_EQ(real(table, row, "p25_ns"), table::quantile(gaps, 0.25));
        EXPECT_DOUBLE_EQ(real(table, row, "median_ns"), table::quantile(gaps, 0.5));
        EXPECT_DOUBLE_EQ(real(table, row, "p75_ns"), table::quantile(gaps, 0.75));
        ++row;
      }
    }
    EXPECT_EQ(row, table.rows());
  }
}

TEST(IdleGaps, AreJudgedByLaunchThenByLength) {
  trace::TraceBuilder builder;
  const auto launch = [&](i64 correlation, Ns ts) {
    builder.span("cuda_runtime", "cudaLaunchKernel", 1, 1, ts, 2, {{Arg::correlation, correlation}});
  };
  const auto kernel = [&](i64 correlation, Ns ts, Ns dur) {
    builder.span("kernel", "gemm", 0, 7, ts, dur, {{Arg::correlation, correlation}});
  };
  launch(1, 0), kernel(1, 10, 90);        // runs until 100
  launch(2, 5), kernel(2, 120, 10);       // launched in time, short gap of 20; until 130
  launch(3, 131), kernel(3, 140, 10);     // launched after the end: gap of 10; until 150
  launch(4, 150), kernel(4, 40'150, 10);  // launched at the end, so in time, but a long gap of 40 000
  kernel(99, 80'160, 10);                 // launch unknown, long gap of 40 000
  launch(6, 8), kernel(6, 80'165, 10);    // overlaps
  const Table table = run_map("idle_time_breakdown", *builder.build());
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(integer(table, 0, "kernel_wait_ns"), 20);
  EXPECT_EQ(integer(table, 0, "kernel_wait_count"), 2);
  EXPECT_EQ(integer(table, 0, "host_wait_ns"), 10);
  EXPECT_EQ(integer(table, 0, "host_wait_count"), 1);
  EXPECT_EQ(integer(table, 0, "other_ns"), 80'000);
  EXPECT_EQ(integer(table, 0, "other_count"), 2);
  EXPECT_EQ(integer(table, 0, "overlapping_rows"), 1);
  EXPECT_EQ(integer(table, 0, "unlaunched_rows"), 1);
}

}  // namespace
}  // namespace spotter::analyze
