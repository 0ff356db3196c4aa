#include <gtest/gtest.h>

#include <set>

#include "analyze/test_trace.h"

namespace spotter::analyze {
namespace {

TEST(Steps, TellsWhenHowLongAndHowBusy) {
  trace::TraceBuilder b;
  b.info().base_ns = 5'000;
  b.span("user_annotation", "ProfilerStep#3", 1, 1, 100, 50);
  b.span("user_annotation", "ProfilerStep#4", 1, 1, 150, 70);
  b.span("cuda_runtime", "cudaLaunchKernel", 1, 1, 110, 5, {{Arg::correlation, i64{1}}});
  b.span("cuda_runtime", "cudaLaunchKernel", 1, 1, 149, 5, {{Arg::correlation, i64{2}}});
  b.span("cuda_runtime", "cudaLaunchKernel", 1, 1, 150, 5, {{Arg::correlation, i64{3}}});
  b.span("kernel", "a", 0, 7, 130, 40, {{Arg::correlation, i64{1}}});  // of step 3, ends in step 4
  b.span("kernel", "b", 0, 8, 160, 40, {{Arg::correlation, i64{2}}});  // of step 3 as well, on another stream
  b.span("kernel", "c", 0, 7, 300, 11, {{Arg::correlation, i64{3}}});  // of step 4, after its end
  b.span("kernel", "d", 0, 7, 215, 10, {{Arg::correlation, i64{99}}});  // launch unknown: by its own start
  b.span("kernel", "e", 0, 7, 400, 10, {{Arg::correlation, i64{99}}});  // of no step
  const Table table = run_map("steps", *b.build());
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(integer(table, 0, "number"), 3);
  EXPECT_EQ(text(table, 0, "mark"), "ProfilerStep");
  EXPECT_EQ(integer(table, 0, "start_ns"), 5'100);
  EXPECT_EQ(integer(table, 0, "dur_ns"), 50);
  EXPECT_EQ(integer(table, 0, "device_busy_ns"), 70);  // [130, 170) and [160, 200)
  EXPECT_EQ(integer(table, 1, "number"), 4);
  EXPECT_EQ(integer(table, 1, "start_ns"), 5'150);
  EXPECT_EQ(integer(table, 1, "device_busy_ns"), 21);
}

TEST(Steps, StepsMayOverlapAndEncloseOneAnother) {
  trace::TraceBuilder b;
  b.span("user_annotation", "ProfilerStep#1", 1, 1, 0, 100);
  b.span("user_annotation", "ProfilerStep#2", 1, 1, 10, 10);
  b.span("user_annotation", "ProfilerStep#3", 1, 1, 90, 30);
  b.span("cuda_runtime", "launch", 1, 1, 50, 5, {{Arg::correlation, i64{1}}});
  b.span("cuda_runtime", "launch", 1, 1, 15, 1, {{Arg::correlation, i64{2}}});
  b.span("cuda_runtime", "launch", 1, 1, 95, 1, {{Arg::correlation, i64{3}}});
  b.span("kernel", "k", 0, 7, 200, 7, {{Arg::correlation, i64{1}}});
  b.span("kernel", "k", 0, 7, 300, 11, {{Arg::correlation, i64{2}}});
  b.span("kernel", "k", 0, 7, 400, 13, {{Arg::correlation, i64{3}}});
  const Table table = run_map("steps", *b.build());
  EXPECT_EQ(integer(table, 0, "device_busy_ns"), 7 + 11 + 13);
  EXPECT_EQ(integer(table, 1, "device_busy_ns"), 11);
  EXPECT_EQ(integer(table, 2, "device_busy_ns"), 13);
}

TEST(Steps, DeviceTimeIsUnknownWithoutDeviceWork) {
  trace::TraceBuilder b;
  b.span("user_annotation", "ProfilerStep#3", 1, 1, 100, 50);
  const Table table = run_map("steps", *b.build());
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_TRUE(is_null(cell(table, 0, "device_busy_ns")));
}

TEST(Steps, ATraceWithoutStepsGivesNoRows) {
  trace::TraceBuilder b;
  b.span("cpu_op", "aten::add", 1, 1, 100, 50);
  const Table table = run_map("steps", *b.build());
  EXPECT_EQ(table.rows(), 0u);
  EXPECT_EQ(table.notes.count("no_steps"), 1);
}

TEST(Steps, BusyTimeAgreesWithACountOfEachNanosecond) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](i64 n) { return static_cast<i64>(random() % static_cast<u64>(n)); };
    trace::TraceBuilder b;
    std::vector<std::set<Ns>> busy(4);
    for (i64 s = 0; s < 4; ++s)
      b.span("user_annotation", fmt::format("ProfilerStep#{}", s), 1, 1, 10 + 50 * s, 40);
    for (i64 i = 1; i <= 30; ++i) {
      const Ns launch = below(220), start = below(300), dur = below(20);
      const bool launched = below(4) != 0;
      if (launched) b.span("cuda_runtime", "cudaLaunchKernel", 1, 2, launch, 1, {{Arg::correlation, i}});
      b.span("kernel", "k", 0, 7 + below(3), start, dur, {{Arg::correlation, i}});
      const Ns decides = launched ? launch : start;
      for (i64 s = 0; s < 4; ++s)
        if (10 + 50 * s <= decides && decides < 50 + 50 * s)
          for (Ns t = start; t < start + dur; ++t) busy[static_cast<size_t>(s)].insert(t);
    }
    const Table table = run_map("steps", *b.build());
    ASSERT_EQ(table.rows(), 4u);
    for (size_t s = 0; s < 4; ++s)
      EXPECT_EQ(integer(table, s, "device_busy_ns"), static_cast<i64>(busy[s].size()));
  }
}

}  // namespace
}  // namespace spotter::analyze
