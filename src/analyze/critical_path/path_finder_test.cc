#include "analyze/critical_path/path_finder.h"

#include <gtest/gtest.h>

#include "analyze/test_trace.h"

namespace spotter::analyze {
namespace {

std::vector<CriticalPath> critical_paths(const Trace& trace, const char* what_if) {
  std::vector<CriticalPath> paths;
  WhatIf change(what_if);
  for_each_critical_path(trace, change, [&](const CriticalPath& path) { paths.push_back(path); });
  return paths;
}

// A step of 0 to `end` on thread 1; host spans on threads, device work on streams.
class Steps {
 public:
  explicit Steps(Ns end) { builder_.span("user_annotation", "ProfilerStep#3", 1, 1, 0, end); }

  void op(const char* name, i64 thread, Ns start, Ns end) {
    builder_.span("cpu_op", name, 1, thread, start, end - start);
  }
  i64 call(const char* name, i64 thread, Ns start, Ns end) {
    builder_.span("cuda_runtime", name, 1, thread, start, end - start, {{Arg::correlation, ++calls_}});
    return calls_;
  }
  void work(const char* name, i64 stream, Ns start, Ns end, i64 call, const char* category = "kernel") {
    builder_.span(category, name, 0, stream, start, end - start,
                  {{Arg::correlation, call}, {Arg::device, i64{0}}, {Arg::stream, stream}});
  }
  void record(const char* name, i64 stream, i64 call, i64 on_stream, i64 event_call) {
    builder_.span("cuda_sync", name, 0, stream, 0, 1,
                  {{Arg::correlation, call},
                   {Arg::device, i64{0}},
                   {Arg::stream, stream},
                   {Arg::wait_on_stream, on_stream},
                   {Arg::wait_on_event_corr, event_call}});
  }

  // The pieces of the one path as "compute gemm 5" and so on.
  std::vector<std::string> path(const char* what_if = "") {
    if (!trace_) trace_ = builder_.build();
    const std::vector<CriticalPath> paths = critical_paths(*trace_, what_if);
    EXPECT_EQ(paths.size(), 1u);
    length = paths[0].length;
    what_if_length = paths[0].what_if_length;
    std::vector<std::string> pieces;
    for (const PathPiece& p : paths[0].pieces)
      pieces.push_back(fmt::format("{} {} {}", bound_name(p.bound),
                                   p.event == kNone ? "-" : trace_->name_of(p.event), p.dur));
    return pieces;
  }

  Ns length = 0, what_if_length = 0;

 private:
  trace::TraceBuilder builder_;
  TracePtr trace_;
  i64 calls_ = 0;
};

using Pieces = std::vector<std::string>;

TEST(CriticalPaths, AHostThatIsSlowerThanItsDeviceIsThePath) {
  Steps t(100);
  t.op("forward", 1, 10, 80);
  t.work("gemm", 7, 25, 30, t.call("cudaLaunchKernel", 1, 20, 24));
  t.work("gemm", 7, 65, 75, t.call("cudaLaunchKernel", 1, 60, 64));
  EXPECT_EQ(t.path(), (Pieces{"host gaps ProfilerStep#3 10", "host operators forward 10",
                              "host operators cudaLaunchKernel 4", "host operators forward 36",
                              "host operators cudaLaunchKernel 4", "host operators forward 16",
                              "host gaps ProfilerStep#3 20"}));
  EXPECT_EQ(t.length, 100);
}

// Also of torch.utils.data's pipes, whose operators are not the model's.
TEST(CriticalPaths, TheNextBatchIsDataLoading) {
  Steps t(100);
  t.op("enumerate(DataPipe)#ShufflerIterDataPipe", 1, 10, 40);
  t.op("aten::stack", 1, 20, 30);
  t.op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 50, 60);
  EXPECT_EQ(t.path(),
            (Pieces{"host gaps ProfilerStep#3 10", "data loading enumerate(DataPipe)#ShufflerIterDataPipe 10",
                    "data loading aten::stack 10", "data loading enumerate(DataPipe)#ShufflerIterDataPipe 10",
                    "host gaps ProfilerStep#3 10",
                    "data loading enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__ 10",
                    "host gaps ProfilerStep#3 40"}));
}

TEST(CriticalPaths, ADeviceThatLagsBehindIsFollowedBeyondTheStepsEnd) {
  Steps t(100);
  t.work("gemm", 7, 15, 80, t.call("cudaLaunchKernel", 1, 10, 14));
  t.work("add", 7, 82, 150, t.call("cudaLaunchKernel", 1, 20, 24));
  EXPECT_EQ(t.path(), (Pieces{"host gaps ProfilerStep#3 10", "launches cudaLaunchKernel 5", "compute gemm 65",
                              "kernel gaps gemm 2", "compute add 68"}));
  EXPECT_EQ(t.length, 150);
}

TEST(CriticalPaths, WorkOfAnEarlierStepHoldsThisOneUp) {
  Steps t(100);
  t.work("old", 7, -50, 60, t.call("cudaLaunchKernel", 1, -60, -55));
  t.work("gemm", 7, 60, 110, t.call("cudaLaunchKernel", 1, 20, 24));
  EXPECT_EQ(t.path(), (Pieces{"compute old 60", "compute gemm 50"}));
}

TEST(CriticalPaths, AHostThatSynchronisesWaitsForTheDevice) {
  Steps t(100);
  t.work("gemm", 7, 15, 80, t.call("cudaLaunchKernel", 1, 10, 14));
  t.call("cudaDeviceSynchronize", 1, 20, 83);
  EXPECT_EQ(t.path(), (Pieces{"host gaps ProfilerStep#3 10", "launches cudaLaunchKernel 5", "compute gemm 65",
                              "synchronization gemm 3", "host gaps ProfilerStep#3 17"}));
}

TEST(CriticalPaths, ACopyThatEndsWithinItsCallIsWaitedFor) {
  Steps t(100);
  t.work("Memcpy DtoH", 7, 30, 75, t.call("cudaMemcpyAsync", 1, 20, 80), "gpu_memcpy");
  EXPECT_EQ(t.path(),
            (Pieces{"host gaps ProfilerStep#3 20", "launches cudaMemcpyAsync 10", "memory Memcpy DtoH 45",
                    "synchronization Memcpy DtoH 5", "host gaps ProfilerStep#3 20"}));
}

TEST(CriticalPaths, WhatWaitsForAnotherStreamIsTiedToIt) {
  for (const bool has_records : {false, true}) {
    Steps t(100);
    t.work("gemm", 7, 15, 60, t.call("cudaLaunchKernel", 1, 10, 14));
    const i64 recorded = t.call("cudaEventRecord", 1, 16, 17);
    const i64 waited = t.call("cudaStreamWaitEvent", 1, 18, 19);
    t.work("ncclDevKernel_AllReduce", 20, 62, 120, t.call("cudaLaunchKernel", 1, 20, 24));
    if (has_records) t.record("Stream Wait Event", 20, waited, 7, recorded);
    EXPECT_EQ(t.path(),
              (Pieces{"host gaps ProfilerStep#3 10", "launches cudaLaunchKernel 5", "compute gemm 45",
                      "kernel gaps gemm 2", "communication ncclDevKernel_AllReduce 58"}));
  }
}

TEST(CriticalPaths, WorkThatNothingElseExplainsWaitedForWhatEndedJustBefore) {
  Steps t(100'000);
  t.work("ncclDevKernel_AllReduce", 20, 15'000, 200'000, t.call("cudaLaunchKernel", 1, 10'000, 14'000));
  t.work("add", 7, 210'000, 220'000, t.call("cudaLaunchKernel", 1, 20'000, 24'000));
  EXPECT_EQ(t.path(), (Pieces{"host gaps ProfilerStep#3 10000", "launches cudaLaunchKernel 5000",
                              "communication ncclDevKernel_AllReduce 185000",
                              "kernel gaps ncclDevKernel_AllReduce 10000", "compute add 10000"}));
}

TEST(CriticalPaths, TheMainThreadWaitsForAutogradsThread) {
  Steps t(100);
  t.op("aten::linear", 1, 0, 20);
  t.op("autograd::engine::evaluate_function: AddmmBackward0", 2, 30, 50);
  t.op("autograd::engine::evaluate_function: TBackward0", 2, 52, 70);
  t.op("aten::add_", 1, 80, 100);
  EXPECT_EQ(t.path(),
            (Pieces{"host operators aten::linear 20", "host gaps - 10",
                    "host operators autograd::engine::evaluate_function: AddmmBackward0 20", "host gaps - 2",
                    "host operators autograd::engine::evaluate_function: TBackward0 18", "host gaps - 10",
                    "host operators aten::add_ 20"}));
  // Half of what autograd does is 19 less; of both its operators' 2 between them nothing is known.
  t.path("evaluate_function=0.5");
  EXPECT_EQ(t.what_if_length, 81);
}

TEST(CriticalPaths, AutogradsThreadMayBeginAndEndJustWhenTheMainThreadStopsAndGoesOn) {
  Steps t(100);
  t.op("aten::linear", 1, 0, 30);
  t.op("autograd::engine::evaluate_function: AddmmBackward0", 2, 30, 80);
  t.op("aten::add_", 1, 80, 100);
  t.path("linear=0");
  EXPECT_EQ(t.what_if_length, 70);
  t.path("evaluate_function=0");
  EXPECT_EQ(t.what_if_length, 50);
}

// Annotations were operators, and autograd had neither marks nor flows: its operators know their forward
// thread.
TEST(CriticalPaths, TracesOf2021HaveTheirDataLoading) {
  trace::TraceBuilder b;
  const auto op = [&](const char* name, i64 thread, Ns start, Ns end, i64 forward_thread = 0) {
    b.span("Operator", name, 1, thread, start, end - start, {{Arg::fwd_thread_id, forward_thread}});
  };
  op("ProfilerStep#5", 1, 0, 100);
  op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 0, 40);
  op("aten::conv2d", 1, 40, 60);
  op("CudnnConvolutionBackward", 2, 65, 90, 1);
  b.span("Runtime", "cudaLaunchKernel", 1, 2, 70, 2, {{Arg::correlation, i64{1}}});
  b.span("Kernel", "dgrad", 0, 7, 75, 75, {{Arg::correlation, i64{1}}});
  op("Optimizer.step#SGD.step", 1, 92, 100);
  const TracePtr trace = b.build();
  std::vector<std::string> pieces;
  for (const CriticalPath& path : critical_paths(*trace, ""))
    for (const PathPiece& p : path.pieces) pieces.push_back(fmt::format("{} {}", bound_name(p.bound), p.dur));
  EXPECT_EQ(pieces, (Pieces{"data loading 40", "host operators 20", "host gaps 5", "host operators 5",
                            "launches 5", "compute 75"}));
}

// It runs after the step's mark, but was launched in the step or before: 180 of waiting are not the launch of
// gemm.
TEST(CriticalPaths, WorkWithoutALaunchHoldsUpWhatComesAfterIt) {
  Steps t(100);
  t.work("old", 7, 110, 200, 0);
  t.work("gemm", 7, 200, 250, t.call("cudaLaunchKernel", 1, 20, 24));
  EXPECT_EQ(t.path(), (Pieces{"unknown - 110", "compute old 90", "compute gemm 50"}));
}

// Where it was launched before work that is known to be launched early, only another stream can have held it
// up.
TEST(CriticalPaths, WorkWithoutALaunchWasLaunchedBeforeWhatComesAfterIt) {
  Steps t(100'000);
  t.work("gemm", 7, 15'000, 200'000, t.call("cudaLaunchKernel", 1, 10'000, 14'000));
  t.work("add", 8, 210'000, 220'000, 0);
  t.work("mul", 8, 230'000, 240'000, t.call("cudaLaunchKernel", 1, 20'000, 24'000));
  EXPECT_EQ(t.path(), (Pieces{"host gaps ProfilerStep#3 10000", "launches cudaLaunchKernel 5000",
                              "compute gemm 185000", "kernel gaps gemm 10000", "compute add 10000",
                              "kernel gaps add 10000", "compute mul 10000"}));
}

// The first step's work runs until 150, with half of its time until its end at 100.
TEST(CriticalPaths, StepsMayBeAddedUpWithoutTheirOverlap) {
  trace::TraceBuilder b;
  for (const Ns start : {0, 100}) {
    const i64 number = 3 + start / 100;
    b.span("user_annotation", fmt::format("ProfilerStep#{}", number), 1, 1, start, 100);
    b.span("cuda_runtime", "cudaLaunchKernel", 1, 1, start + 10, 2, {{Arg::correlation, number}});
    b.span("kernel", "gemm", 0, 7, start == 0 ? 20 : 150, start == 0 ? 130 : 30,
           {{Arg::correlation, number}});
  }
  const TracePtr trace = b.build();
  for (const auto& [what_if, overlap] : {std::pair{"", 50}, {"gemm=0.5", 0}}) {
    const std::vector<CriticalPath> paths = critical_paths(*trace, what_if);
    ASSERT_EQ(paths.size(), 2u);
    EXPECT_EQ(paths[0].overlap(), 0);
    EXPECT_EQ(paths[1].overlap(), overlap);
    Ns own = 0;
    for (const CriticalPath& path : paths)
      for (const PathPiece& piece : path.pieces) own += path.own_part(piece);
    EXPECT_EQ(own, 200);
  }
}

TEST(CriticalPaths, WhatIfDoesNotStretchWaiting) {
  Steps t(100);
  t.op("aten::item", 1, 5, 98);
  t.work("gemm", 7, 15, 90, t.call("cudaLaunchKernel", 1, 10, 14));
  t.call("cudaStreamSynchronize", 1, 20, 95);
  // The launch is reached 5 later; the 5 until the call is told of the kernel's end stay, the 3 after it are
  // doubled.
  t.path("aten::item=2");
  EXPECT_EQ(t.what_if_length, 108);
}

TEST(CriticalPaths, AllKernelsOfAGraphDependOnItsLaunch) {
  Steps t(40);
  const i64 graph = t.call("cudaGraphLaunch", 1, 10, 30);
  t.work("first", 7, 20, 50, graph);
  t.work("second", 7, 50, 90, graph);
  t.work("branch", 8, 55, 95, graph);
  EXPECT_EQ(t.path(),
            (Pieces{"host gaps ProfilerStep#3 10", "launches cudaGraphLaunch 45", "compute branch 40"}));
}

TEST(CriticalPaths, ALaunchThatFindsTheQueueFullWaitsForRoom) {
  Steps t(5000);
  for (Ns i = 0; i < 1024; ++i)
    t.work("gemm", 7, 100 + i * 10, 110 + i * 10, t.call("cudaLaunchKernel", 1, 2 * i, 2 * i + 1));
  // The first of 1,024 runs from 100 on, the second from 110, when there is room for one more than one more.
  t.work("late", 7, 100 + 10240, 100 + 10250, t.call("cudaLaunchKernel", 1, 2048, 2049));
  EXPECT_EQ(t.path().back(), "compute late 10");
  EXPECT_EQ(t.length, 10350);
}

TEST(CriticalPaths, WhatIfFollowsThePathThatThenIsLongest) {
  Steps t(100);
  t.op("forward", 1, 0, 90);
  t.work("gemm", 7, 25, 85, t.call("cudaLaunchKernel", 1, 20, 24));
  t.call("cudaDeviceSynchronize", 1, 91, 95);
  EXPECT_EQ(t.path().size(), 6u);
  EXPECT_EQ(t.what_if_length, 100);
  // The kernel would end at 145, and the host would go on 4 later, when its wait is over, for the last 5.
  EXPECT_EQ(t.path("gemm=2"), (Pieces{"host operators forward 20", "launches cudaLaunchKernel 5",
                                      "compute gemm 120", "host gaps ProfilerStep#3 5"}));
  EXPECT_EQ(t.what_if_length, 150);
  EXPECT_EQ(t.length, 100);
  // With the host in no time the kernel is the path: launched at 0, it begins 5 later and runs 60. The call
  // that waits for it, and what is after it, are as they were.
  t.path("forward=0");
  EXPECT_EQ(t.what_if_length, 70);
}

// Whatever the trace: pieces follow each other from the start of the window to its end.
TEST(CriticalPaths, WhatIfOfVeryLongSpansStopsWhereTimesEnd) {
  Steps t(kMaxTime / 2);
  t.op("slow", 1, 0, kMaxTime / 4);
  t.op("slow", 1, kMaxTime / 4, kMaxTime / 2);
  t.path("slow=1000000");
  EXPECT_EQ(t.what_if_length, kLatestTime);
}

TEST(CriticalPaths, RowsWithoutLaunchesDoNotAllWaitForTheSameAgain) {
  constexpr i64 kMany = 1000;
  trace::TraceBuilder builder;
  for (i64 i = 0; i < kMany; ++i) {
    builder.span("cuda_runtime", "cudaStreamWaitEvent", 1, 1, i, 1, {{Arg::correlation, i}});
    builder.span("cuda_sync", "Stream Wait Event", 0, 7, i, 1,
                 {{Arg::correlation, i},
                  {Arg::device, i64{0}},
                  {Arg::stream, i64{7}},
                  {Arg::wait_on_stream, i64{8}},
                  {Arg::wait_on_event_corr, i}});
    builder.span("kernel", "other", 0, 8, i, 1, {{Arg::device, i64{0}}, {Arg::stream, i64{8}}});
    builder.span("kernel", "k", 0, 7, kMany + 2 * i, 1, {{Arg::device, i64{0}}, {Arg::stream, i64{7}}});
  }
  const TracePtr trace = builder.build();
  const Dependencies dependencies(*trace);
  std::vector<u32> awaited;
  for (u32 row = 0; row < trace->device_work().event.size(); ++row) dependencies.awaited_by_row(row, awaited);
  EXPECT_GE(awaited.size(), size_t{kMany} - 1);
  EXPECT_LE(awaited.size(), size_t{4 * kMany});
}

TEST(CriticalPaths, PiecesFillTheWindow) {
  size_t pieces = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    const TestTrace t = random_trace(seed);
    for (const char* what_if : {"", "gemm=0.5", "name1=3", "no such name=0"}) {
      for (const CriticalPath& path : critical_paths(*t.trace, what_if)) {
        Ns at = path.start;
        for (const PathPiece& piece : path.pieces) {
          ASSERT_EQ(piece.start, at) << seed;
          ASSERT_GT(piece.dur, 0) << seed;
          at += piece.dur;
        }
        pieces += path.pieces.size();
        ASSERT_EQ(at - path.start, path.what_if_length) << seed << " " << what_if;
        if (!std::string_view(what_if).starts_with("gemm") &&
            !std::string_view(what_if).starts_with("name")) {
          ASSERT_EQ(path.length, path.what_if_length) << seed;
        }
      }
    }
  }
  EXPECT_GT(pieces, 1000U);
}

}  // namespace
}  // namespace spotter::analyze
