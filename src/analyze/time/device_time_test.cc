// The three analyses of which kinds of device work run when, against a count nanosecond by nanosecond.
#include "analyze/time/device_time.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "analyze/test_trace.h"

namespace spotter::analyze {
namespace {

constexpr unsigned kRounds = 400;

// Time by the kinds that run, as "compute+memory"; "" is idle time between the first start and the last end.
std::map<std::string, Ns> count_by_kinds(const std::vector<DeviceSpan>& spans) {
  Ns first = spans[0].start, last = spans[0].end;
  for (const DeviceSpan& s : spans) {
    first = std::min(first, s.start);
    last = std::max(last, s.end);
  }
  std::map<std::string, Ns> time;
  for (Ns t = first; t < last; ++t) {
    std::string kinds;
    for (const char* kind : {"compute", "communication", "memory"}) {
      const bool runs = std::any_of(spans.begin(), spans.end(), [&](const DeviceSpan& s) {
        return s.kind == kind && s.start <= t && t < s.end;
      });
      if (runs) kinds += fmt::format("{}{}", kinds.empty() ? "" : "+", kind);
    }
    ++time[kinds];
  }
  return time;
}

void expect_ratio(const Table& table, size_t row, const char* column, Ns part, Ns whole) {
  if (whole == 0)
    EXPECT_TRUE(is_null(cell(table, row, column))) << column;
  else
    EXPECT_DOUBLE_EQ(real(table, row, column), static_cast<double>(part) / static_cast<double>(whole))
        << column;
}

TEST(DeviceTime, AgreesWithACountOfEachNanosecond) {
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    SCOPED_TRACE(seed);
    const TestTrace t = random_trace(seed);
    const Table temporal = run_map("temporal_breakdown", *t.trace);
    const Table types = run_map("kernel_type_breakdown", *t.trace);
    const Table overlap = run_map("comm_comp_overlap", *t.trace);
    if (t.device.empty()) {
      for (const Table* table : {&temporal, &types, &overlap}) {
        EXPECT_EQ(table->rows(), 0u);
        EXPECT_EQ(table->notes.count("no_device_work"), 1);
      }
      continue;
    }
    std::map<std::string, Ns> time = count_by_kinds(t.device);
    Ns window = 0, compute = 0, communication = 0, both = 0;
    for (const auto& [kinds, ns] : time) {
      const bool has_compute = kinds.find("compute") != kinds.npos;
      const bool has_communication = kinds.find("communication") != kinds.npos;
      window += ns;
      if (has_compute) compute += ns;
      if (has_communication) communication += ns;
      if (has_compute && has_communication) both += ns;
    }
    const Ns idle = time[""], busy = window - idle;

    ASSERT_EQ(temporal.rows(), 1u);
    EXPECT_EQ(integer(temporal, 0, "kernel_time_ns"), window);
    EXPECT_EQ(integer(temporal, 0, "idle_ns"), idle);
    EXPECT_EQ(integer(temporal, 0, "compute_ns"), compute);
    EXPECT_EQ(integer(temporal, 0, "non_compute_ns"), busy - compute);
    expect_ratio(temporal, 0, "idle_ratio", idle, window);
    expect_ratio(temporal, 0, "compute_ratio", compute, window);
    expect_ratio(temporal, 0, "non_compute_ratio", busy - compute, window);

    ASSERT_EQ(types.rows(), 7u);
    for (size_t row = 0; row < 7; ++row) {
      EXPECT_EQ(integer(types, row, "time_ns"), time[text(types, row, "kernel_type")]);
      expect_ratio(types, row, "ratio", integer(types, row, "time_ns"), busy);
    }

    ASSERT_EQ(overlap.rows(), 1u);
    EXPECT_EQ(integer(overlap, 0, "communication_ns"), communication);
    EXPECT_EQ(integer(overlap, 0, "compute_and_communication_ns"), both);
    expect_ratio(overlap, 0, "ratio", both, communication);
  }
}

TEST(DeviceTime, ListsAllSevenSetsInOrder) {
  trace::TraceBuilder builder;
  builder.span("kernel", "gemm", 0, 7, 0, 10);
  const Table types = run_map("kernel_type_breakdown", *builder.build());
  const char* const expected[] = {"compute",
                                  "communication",
                                  "memory",
                                  "compute+communication",
                                  "compute+memory",
                                  "communication+memory",
                                  "compute+communication+memory"};
  ASSERT_EQ(types.rows(), 7u);
  for (size_t row = 0; row < 7; ++row) EXPECT_EQ(text(types, row, "kernel_type"), expected[row]);
}

TEST(DeviceTime, WorkOfNoLengthStillBoundsTheWindow) {
  trace::TraceBuilder builder;
  builder.span("kernel", "empty", 0, 7, 5, 0);
  builder.span("kernel", "gemm", 0, 7, 10, 4);
  const Table temporal = run_map("temporal_breakdown", *builder.build());
  EXPECT_EQ(integer(temporal, 0, "kernel_time_ns"), 9);
  EXPECT_EQ(integer(temporal, 0, "idle_ns"), 5);
}

}  // namespace
}  // namespace spotter::analyze
