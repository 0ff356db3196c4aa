#include "trace/hta_rows.h"

#include <gtest/gtest.h>

#include "trace/builder.h"
#include "trace/steps.h"

namespace spotter::trace {
namespace {

std::vector<std::string> names(const Trace& trace) {
  std::vector<std::string> names;
  for (EventId e = 0; e < trace.size(); ++e) names.emplace_back(trace.name_of(e));
  return names;
}

using Names = std::vector<std::string>;

TEST(HtaRows, EndWithTheLastStepsStart) {
  TraceBuilder b;
  b.span("user_annotation", "ProfilerStep#1", 1, 1, 0, 100'000);
  b.span("user_annotation", "ProfilerStep#2", 1, 1, 100'000, 100'000);
  b.span("cuda_runtime", "launch 1", 1, 1, 10'000, 2'000, {{Arg::correlation, i64{1}}});
  b.span("cuda_runtime", "launch 2", 1, 1, 110'000, 2'000, {{Arg::correlation, i64{2}}});
  const auto on_device = [&](const char* name, Ns start, i64 correlation) {
    b.span("kernel", name, 0, 7, start, 5'000, {{Arg::correlation, correlation}, {Arg::stream, i64{7}}});
  };
  on_device("late kernel of step 1", 150'000, 1);
  on_device("kernel of step 2", 120'000, 2);
  on_device("kernel without a launch", 20'000, 3);
  b.mark('M', "", "process_name", 1, 1, 0);
  b.span("Trace", "PyTorch Profiler (0)", 1, 1, 0, 200'000);
  const auto read = as_hta_reads(*b.build());
  EXPECT_EQ(names(*read), (Names{"ProfilerStep#1", "launch 1", "late kernel of step 1"}));
  EXPECT_EQ(read->steps().steps.size(), 1u);
  EXPECT_EQ(read->ts[1], 10'000);
}

TEST(HtaRows, WhatBeginsInOneMicrosecondWithTheLastStepIsLeftOut) {
  TraceBuilder b;
  b.span("user_annotation", "ProfilerStep#1", 1, 1, 0, 100'000);
  b.span("cpu_op", "before", 1, 1, 99'900, 1'000);
  b.span("cpu_op", "in its microsecond", 1, 1, 100'200, 1'000);
  b.span("user_annotation", "ProfilerStep#2", 1, 1, 100'800, 100'000);
  const auto trace = b.build();
  EXPECT_EQ(names(*as_hta_reads(*trace)), (Names{"ProfilerStep#1", "before"}));
  EXPECT_EQ(rows_hta_keeps(*trace, false, false), (std::vector<EventId>{0, 1, 2}));
  EXPECT_EQ(rows_hta_keeps(*trace, true, true).size(), 4u);
}

TEST(HtaRows, AMarkOnTheDeviceCountsAsTheLast) {
  TraceBuilder b;
  b.span("user_annotation", "ProfilerStep#1", 1, 1, 0, 100'000);
  b.span("user_annotation", "ProfilerStep#2", 1, 1, 100'000, 100'000);
  b.span("gpu_user_annotation", "ProfilerStep#2", 0, 7, 130'000, 50'000);
  b.span("cpu_op", "early", 1, 1, 110'000, 1'000);
  b.span("cpu_op", "later", 1, 1, 140'000, 1'000);
  EXPECT_EQ(names(*as_hta_reads(*b.build())), (Names{"ProfilerStep#1", "ProfilerStep#2", "early"}));
}

TEST(HtaRows, AreAllOfThemWhereThereIsOneStep) {
  TraceBuilder b;
  b.span("user_annotation", "ProfilerStep#1", 1, 1, 0, 100'000);
  b.span("cpu_op", "later", 1, 1, 140'000, 1'000);
  EXPECT_EQ(as_hta_reads(*b.build())->size(), 2u);
}

TEST(HtaRows, TimesWithFractionsAreRoundedInwards) {
  TraceBuilder b;
  b.span("cpu_op", "long", 1, 1, 1'500, 3'400);  // 1.5 to 4.9: 2 to 4
  b.span("cpu_op", "short", 1, 1, 10'200, 300);  // 10.2 to 10.5: 11 to 10
  b.span("cpu_op", "whole", 1, 1, 20'000, 2'000);
  b.span("cpu_op", "before", 1, 1, -1'500, 1'000);  // -1.5 to -0.5: -1 to -1
  const auto read = as_hta_reads(*b.build());
  const std::vector<Ns> starts(read->ts.begin(), read->ts.end()),
      durations(read->dur.begin(), read->dur.end());
  EXPECT_EQ(starts, (std::vector<Ns>{2'000, 11'000, 20'000, -1'000}));
  EXPECT_EQ(durations, (std::vector<Ns>{2'000, -1'000, 2'000, 0}));
}

// Near 1.7e15 us doubles are 0.25 us apart: .126 becomes .25 or .0, whichever is nearer, and .9 becomes the
// next whole one.
TEST(HtaRows, TimesSince1970AreDoublesFirst) {
  constexpr Ns kToday = 1'712'000'000'000'000'000;
  TraceBuilder b;
  b.span("cpu_op", "a tenth after", 1, 1, kToday + 100, 5'000);
  b.span("cpu_op", "a tenth before", 1, 1, kToday + 10'900, 5'100);
  b.span("cpu_op", "ends a tenth before", 1, 1, kToday + 20'000, 4'900);
  b.span("cpu_op", "both", 1, 1, kToday + 30'130, 4'870);
  const auto read = as_hta_reads(*b.build());
  const std::vector<Ns> durations(read->dur.begin(), read->dur.end());
  std::vector<Ns> starts;
  for (const Ns ts : read->ts) starts.push_back(ts - kToday);
  EXPECT_EQ(starts, (std::vector<Ns>{0, 11'000, 20'000, 31'000}));
  // 0 + 5, 11 + 5.1 (16), 20 + 4.9 (25), 30.25 + 4.87 (35).
  EXPECT_EQ(durations, (std::vector<Ns>{5'000, 5'000, 5'000, 4'000}));
}

TEST(HtaRows, DeviceWorkWithoutAStreamIsLeftOut) {
  TraceBuilder b;
  b.span("mtia_ccp_events", "dma_request", 17, 3672, 1'000, 1'000, {{Arg::correlation, i64{1}}});
  b.span("mtia_ccp_events", "dma_request", 17, 3672, 3'000, 1'000, {{Arg::stream, i64{105}}});
  b.span("cpu_op", "a", 1, 1, 1'000, 3'400);
  EXPECT_EQ(names(*as_hta_reads(*b.build())), (Names{"dma_request", "a"}));
}

TEST(HtaRows, WholeMicrosecondsStay) {
  TraceBuilder b;
  b.span("cpu_op", "a", 1, 1, 1'000, 3'400);
  const auto read = as_hta_reads(*b.build());
  EXPECT_EQ(read->ts[0], 1'000);
  EXPECT_EQ(read->dur[0], 3'400);
}

}  // namespace
}  // namespace spotter::trace
