#include "trace/steps.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace spotter::trace {
namespace {

std::vector<std::vector<i64>> rows_of(const Steps& steps) {
  std::vector<std::vector<i64>> rows;
  for (const Step& s : steps.steps) rows.push_back({s.number, s.start, s.end});
  return rows;
}
using Rows = std::vector<std::vector<i64>>;

TEST(Steps, ProfilerStepsAreHostSpansWithANumber) {
  TraceBuilder b;
  b.span("gpu_user_annotation", "ProfilerStep#7", 0, 7, 500, 10);
  b.span("user_annotation", "ProfilerStep#8", 1, 1, 200, 90);
  b.span("cpu_op", "ProfilerStep #7", 1, 1, 100, 90);
  b.span("user_annotation", "ProfilerStep#7", 1, 2, 150, 20);  // a second mark of step 7
  b.span("user_annotation", "ProfilerStep#", 1, 1, 300, 90);
  b.span("user_annotation", "ProfilerStep#x", 1, 1, 300, 90);
  b.span("user_annotation", "Optimizer.step#SGD.step", 1, 1, 180, 5);
  b.mark('i', "", "ProfilerStep#9", 1, 1, 400);
  const Steps steps = compute_steps(*b.build());
  EXPECT_EQ(steps.mark_name, "ProfilerStep");
  EXPECT_EQ(rows_of(steps), (Rows{{7, 100, 190}, {8, 200, 290}}));
}

TEST(Steps, NumbersMayRepeat) {
  TraceBuilder b;
  for (const Ns ts : {0, 1000}) {
    b.span("user_annotation", "ProfilerStep#1", 1, 1, ts + 100, 100);
    b.span("user_annotation", "ProfilerStep#0", 1, 1, ts, 100);
    b.span("user_annotation", "ProfilerStep#0", 1, 2, ts + 10, 120);  // the same step on other threads
    b.span("user_annotation", "ProfilerStep#0", 1, 3, ts + 125, 10);
  }
  const TracePtr trace = b.build();
  EXPECT_EQ(rows_of(trace->steps()), (Rows{{0, 0, 100}, {1, 100, 200}, {0, 1000, 1100}, {1, 1100, 1200}}));
  EXPECT_EQ(rows_of(select_steps(*trace, 0, 0)->steps()), (Rows{{0, 0, 100}, {0, 1000, 1100}}));
  Notes notes;
  add_step_notes(trace->steps(), notes);
  EXPECT_EQ(notes.count("repeated_steps"), 2);
}

// Kineto stretches what has not ended to the end of the recording.
TEST(Steps, WhatHasNotEndedIsNone) {
  const std::initializer_list<ArgValue> unfinished = {{Arg::finished, i64{0}}};
  TraceBuilder b;
  for (const Ns ts : {0, 100, 200}) b.span("user_annotation", "batch", 1, 1, ts, 60);
  b.span("user_annotation", "batch", 1, 1, 300, 500, unfinished);
  EXPECT_EQ(rows_of(compute_steps(*b.build())), (Rows{{0, 0, 60}, {1, 100, 160}, {2, 200, 260}}));

  b.span("cpu_op", "aten::add", 1, 1, 0, 5);
  b.span("user_annotation", "Optimizer.step#SGD.step", 1, 1, 90, 10, {{Arg::finished, i64{1}}});
  b.span("user_annotation", "Optimizer.step#SGD.step", 1, 1, 190, 600, unfinished);
  EXPECT_EQ(rows_of(compute_steps(*b.build())), (Rows{{0, 0, 100}}));

  b.span("user_annotation", "ProfilerStep#1", 1, 1, 0, 100);
  b.span("user_annotation", "ProfilerStep#2", 1, 1, 100, 700, unfinished);
  const Steps steps = compute_steps(*b.build());
  EXPECT_EQ(rows_of(steps), (Rows{{1, 0, 100}}));
  Notes notes;
  add_step_notes(steps, notes);
  EXPECT_EQ(notes.count("unfinished_steps"), 1);
}

TEST(Steps, OptimizerStepsRunFromEndToEnd) {
  TraceBuilder b;
  b.span("cpu_op", "aten::add", 1, 1, 40, 5);
  b.span("user_annotation", "Optimizer.step#SGD.step", 1, 1, 200, 10);
  b.span("user_annotation", "Optimizer.step#SGD.step", 1, 1, 100, 10);
  b.span("user_annotation", "Optimizer.zero_grad#SGD.zero_grad", 1, 1, 90, 5);
  b.span("user_annotation", "Optimizer.step#Adam.step", 1, 1, 150, 40);
  const Rows from_host_span{{0, 40, 110}, {1, 110, 210}};
  const Rows from_window{{0, 10, 110}, {1, 110, 210}};

  TracePtr t = b.build();
  EXPECT_EQ(t->steps().mark_name, "Optimizer.step#SGD.step");
  EXPECT_EQ(rows_of(t->steps()), from_host_span);

  b.span("Trace", "PyTorch Profiler (0)", 0, 0, 10, 500);
  b.span("cpu_op", "earlier", 1, 1, 5, 1);
  b.span("user_annotation", "Optimizer.step#SGD.step", 1, 1, 2, 5);  // over before the window begins
  b.span("user_annotation", "Optimizer.step#SGD.step", 1, 1, 100, 10);
  b.span("user_annotation", "Optimizer.step#SGD.step", 1, 1, 200, 10);
  EXPECT_EQ(rows_of(compute_steps(*b.build())), from_window);
}

TEST(Steps, OfAWrappedOptimizerTheWrapperCounts) {
  TraceBuilder b;
  for (const Ns ts : {0, 100}) {
    b.span("user_annotation", "Optimizer.step#Adam.step", 1, 1, ts + 20, 10);
    b.span("user_annotation", "Optimizer.step#Wrapper.step", 1, 1, ts + 10, 40);
  }
  const Steps steps = compute_steps(*b.build());
  EXPECT_EQ(steps.mark_name, "Optimizer.step#Wrapper.step");
  EXPECT_EQ(rows_of(steps), (Rows{{0, 10, 50}, {1, 50, 150}}));
}

TEST(Steps, AnAnnotationThatRepeatsEvenlyIsTheLastResort) {
  TraceBuilder b;
  for (const Ns ts : {0, 100, 210, 300}) {
    b.span("user_annotation", "decode", 1, 1, ts, 60);
    b.span("user_annotation", "inner", 1, 1, ts + 5, 20);
    b.span("user_annotation", "nccl:all_reduce", 1, 1, ts + 1, 80);
    b.span("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 1, ts, 90);
    b.span("user_annotation", "enumerate(DataPipe)#ShufflerIterDataPipe", 1, 1, ts, 92);
    b.span("user_annotation", "Optimizer.zero_grad#SGD.zero_grad", 1, 1, ts, 90);
    b.span("cpu_op", "aten::linear", 1, 1, ts, 95);
    b.span("gpu_user_annotation", "on the device", 0, 7, ts, 95);
  }
  for (const Ns ts : {0, 50, 1000, 1050}) b.span("user_annotation", "uneven", 1, 1, ts, 50);
  for (const Ns ts : {0, 100, 200, 300}) b.span("user_annotation", "overlaps itself", 1, 1, ts, 101);
  for (const Ns ts : {0, 200}) b.span("user_annotation", "twice", 1, 1, ts, 150);
  for (i64 thread = 2; thread < 6; ++thread)
    b.span("user_annotation", "elsewhere", 1, thread, thread * 100, 90);
  const Steps steps = compute_steps(*b.build());
  EXPECT_EQ(steps.mark_name, "decode");
  EXPECT_EQ(rows_of(steps), (Rows{{0, 0, 60}, {1, 100, 160}, {2, 210, 270}, {3, 300, 360}}));
}

TEST(Steps, EquallyLongAnnotationsAreTakenByName) {
  TraceBuilder b;
  for (const Ns ts : {0, 100, 200})
    for (const char* name : {"b", "a", "c"}) b.span("user_annotation", name, 1, 1, ts, 60);
  EXPECT_EQ(compute_steps(*b.build()).mark_name, "a");
}

TEST(Steps, AnnotationsOfAnEngineAreItsIterations) {
  TraceBuilder b;
  b.span("user_annotation", "execute_context_1(2048)_generation_0(0)", 1, 1, 0, 90);
  b.span("user_annotation", "execute_context_0(0)_generation_4(4)", 1, 1, 100, 20);
  b.span("user_annotation", "execute_context_0(0)_generation_4(4)", 1, 2, 105, 30);  // overlaps
  b.span("gpu_user_annotation", "execute_context_0(0)_generation_4(4)", 0, 7, 110, 20);
  b.span("user_annotation", "execute_context_2(10)_generation_3(3)", 1, 1, 130, 40);
  b.span("user_annotation", "execute_context_0(0)_generation_4(4)", 1, 1, 180, 500,
         {{Arg::finished, i64{0}}});
  for (const Ns ts : {0, 100, 200, 300}) b.span("user_annotation", "evenly", 1, 3, ts, 95);
  const TracePtr t = b.build();
  const Steps& steps = t->steps();
  EXPECT_EQ(rows_of(steps), (Rows{{0, 0, 90}, {1, 100, 120}, {2, 130, 170}}));
  EXPECT_EQ(steps.mark_name, "vLLM");
  EXPECT_EQ(steps.source, StepSource::engine);
  EXPECT_TRUE(steps.are_iterations);
  EXPECT_EQ(steps.unfinished, 1);
  EXPECT_EQ(steps.steps[0].batch, (Batch{Phase::prefill, 1, 2048, 0, 0}));
  EXPECT_EQ(steps.steps[1].batch.phase, Phase::decode);
  EXPECT_EQ(steps.steps[2].batch.tokens(), 13);
  EXPECT_TRUE(is_step_mark(steps, "execute_context_9(9)_generation_0(0)"));
  EXPECT_FALSE(is_step_mark(steps, "vLLM"));
  EXPECT_EQ(without_number(steps, "execute_context_9(9)_generation_0(0)"), "vLLM");
  EXPECT_EQ(without_number(steps, "evenly"), "evenly");
  EXPECT_EQ(select_steps(*t, 1, 1)->steps().steps[0].batch.generation_tokens, 4);
}

TEST(Steps, ProfilerStepsHaveTheBatchOfTheOneAnnotationInThem) {
  TraceBuilder b;
  for (i64 n = 0; n < 3; ++n)
    b.span("user_annotation", "ProfilerStep#" + std::to_string(n), 1, 1, n * 100, 100);
  b.span("user_annotation", "step[EXTEND bs=1 toks=7]", 1, 1, 10, 50);
  b.span("user_annotation", "step[DECODE bs=1]", 1, 1, 110, 20);
  b.span("user_annotation", "step[DECODE bs=1]", 1, 1, 150, 20);
  const TracePtr t = b.build();
  const Steps& steps = t->steps();
  EXPECT_EQ(steps.mark_name, "ProfilerStep");
  EXPECT_STREQ(steps.engine, "SGLang");
  EXPECT_TRUE(steps.are_iterations);
  EXPECT_EQ(steps.steps[0].batch.context_tokens, 7);
  EXPECT_EQ(steps.steps[1].batch, Batch{});  // two
  EXPECT_EQ(steps.steps[2].batch, Batch{});  // none
}

TEST(Steps, WithoutAMarkThereAreNone) {
  TraceBuilder b;
  b.span("cpu_op", "aten::add", 1, 1, 0, 5);
  b.mark('i', "", "Iteration Start: PyTorch Profiler", 0, 0, 0);
  const Steps steps = compute_steps(*b.build());
  EXPECT_TRUE(steps.steps.empty());
}

TEST(SelectSteps, DeviceRowsFollowTheirLaunch) {
  TraceBuilder b;
  b.mark('M', "", "process_name", 1, 0, 0, {{Arg::name, "python"}});
  for (i64 n = 1; n <= 3; ++n)
    b.span("user_annotation", "ProfilerStep#" + std::to_string(n), 1, 1, n * 100, 100);
  b.span("cuda_runtime", "launch 1", 1, 1, 150, 5, {{Arg::correlation, 1}});
  b.span("kernel", "late, of step 1", 0, 7, 250, 5, {{Arg::correlation, 1}});
  b.span("cuda_runtime", "launch 2", 1, 1, 299, 50, {{Arg::correlation, 2}});
  b.span("kernel", "late, of step 2", 0, 7, 400, 5, {{Arg::correlation, 2}});
  b.span("kernel", "unlaunched", 0, 7, 200, 5, {{Arg::correlation, 3}});
  b.mark('f', "ac2g", "flow", 0, 7, 400);
  b.mark('i', "cpu_instant_event", "[memory]", 1, 1, 201);
  b.span("cpu_op", "next step", 1, 1, 300, 5);
  const TracePtr t = b.build();

  const auto names = [&](i64 first, i64 last) {
    const auto some = select_steps(*t, first, last);
    std::vector<std::string> found;
    for (EventId e = 0; e < some->size(); ++e) found.emplace_back(some->name_of(e));
    return found;
  };
  EXPECT_EQ(names(2, 2), (std::vector<std::string>{"process_name", "ProfilerStep#2", "launch 2",
                                                   "late, of step 2", "unlaunched", "[memory]"}));
  EXPECT_EQ(names(1, 1),
            (std::vector<std::string>{"process_name", "ProfilerStep#1", "launch 1", "late, of step 1"}));
  EXPECT_EQ(names(9, 10), (std::vector<std::string>{"process_name"}));
  EXPECT_EQ(rows_of(select_steps(*t, 2, 3)->steps()), (Rows{{2, 200, 300}, {3, 300, 400}}));
}

// The numbers and the windows are those of the whole trace, where they are counted too.
TEST(SelectSteps, KeepsTheNumbersOfTheWhole) {
  TraceBuilder b;
  b.span("cpu_op", "first", 1, 1, 10, 5);
  for (i64 n = 1; n <= 4; ++n) {
    b.span("cpu_op", "forward", 1, 1, n * 100 - 80, 20);
    b.span("cpu_op", "Optimizer.step#SGD.step", 1, 1, n * 100 - 30, 30);
  }
  const TracePtr t = b.build();
  ASSERT_EQ(rows_of(t->steps()), (Rows{{0, 10, 100}, {1, 100, 200}, {2, 200, 300}, {3, 300, 400}}));
  const auto some = select_steps(*t, 2, 9);
  EXPECT_EQ(rows_of(some->steps()), (Rows{{2, 200, 300}, {3, 300, 400}}));
  EXPECT_EQ(some->steps().mark_name, "Optimizer.step#SGD.step");
  EXPECT_EQ(some->size(), 4u);
}

// With it a window of a chosen step is that of the whole trace.
TEST(SelectSteps, TellsWhenTheStepsBeforeHadEnded) {
  TraceBuilder b;
  for (i64 n = 1; n <= 3; ++n)
    b.span("user_annotation", "ProfilerStep#" + std::to_string(n), 1, 1, n * 100, 100);
  b.span("cuda_runtime", "launch 1", 1, 1, 150, 5, {{Arg::correlation, i64{1}}});
  b.span("kernel", "of step 1", 0, 7, 160, 90, {{Arg::correlation, i64{1}}});
  b.span("cuda_runtime", "launch over the end", 1, 1, 190, 20, {{Arg::correlation, i64{2}}});
  b.span("kernel", "of none", 0, 7, 400, 90, {{Arg::correlation, i64{2}}});
  const TracePtr t = b.build();
  EXPECT_EQ(t->steps().end_before, std::nullopt);
  EXPECT_EQ(select_steps(*t, 1, 3)->steps().end_before, std::nullopt);
  EXPECT_EQ(select_steps(*t, 2, 2)->steps().end_before, 250);
  EXPECT_EQ(select_steps(*t, 3, 3)->steps().end_before, 300);
}

}  // namespace
}  // namespace spotter::trace
