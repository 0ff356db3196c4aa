#include "trace/iterations/iterations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>

#include "trace/builder.h"
#include "trace/steps.h"

namespace spotter::trace {
namespace {

using Rows = std::vector<std::pair<Ns, Ns>>;

Rows rows_of(const Iterations& found) {
  Rows rows;
  for (const Window& w : found.windows) rows.emplace_back(w.start, w.end);
  return rows;
}

// A thread that launches, and the stream that works it off.
class Engine {
 public:
  void launch(const std::string& kernel, Ns dur = 10, const char* category = "kernel") {
    call("cudaLaunchKernel");
    work(category, kernel, dur);
  }
  void copy_to_host() { launch("Memcpy DtoH (Device -> Pinned)", 1, "gpu_memcpy"); }
  void graph(const std::vector<std::string>& kernels) {
    call("cudaGraphLaunch");
    for (const std::string& kernel : kernels) work("kernel", kernel, 10);
  }
  void wait() {
    now_ = std::max(now_ + 1, device_);
    b_.span("cuda_runtime", "cudaStreamSynchronize", 1, 1, now_, 1, {{Arg::correlation, ++correlation_}});
    now_ += 1;
  }
  void pause(Ns ns) { now_ += ns; }
  void span(const char* category, const char* name, Ns start) {
    b_.span(category, name, 1, 1, start, now_ - start);
  }
  Ns now() const { return now_; }
  TracePtr build() { return b_.build(); }

  // An iteration, eager or as a graph.
  void iterate(bool is_prefill, bool has_graph = true) {
    pause(30);
    launch("Memcpy HtoD (Pinned -> Device)", 2, "gpu_memcpy");
    if (is_prefill || !has_graph) {
      launch("embed");
      for (int layer = 0; layer < 4; ++layer) {
        launch(is_prefill ? "gemm_256" : "gemm_64");
        launch(is_prefill ? "flash" : "flash_splitkv");
      }
    } else {
      graph({"embed", "gemm_64", "flash_splitkv", "gemm_64", "flash_splitkv"});
    }
    launch("logits");
    launch("ArgMaxOps");
    copy_to_host();
    wait();
  }

 private:
  void call(const char* name) {
    b_.span("cuda_runtime", name, 1, 1, now_, 2, {{Arg::correlation, ++correlation_}});
    now_ += 3;
  }
  void work(const char* category, const std::string& name, Ns dur) {
    device_ = std::max(device_, now_);
    b_.span(category, name, 0, 7, device_, dur,
            {{Arg::correlation, correlation_}, {Arg::device, 0}, {Arg::stream, 7}});
    device_ += dur;
  }

  TraceBuilder b_;
  Ns now_ = 1000, device_ = 0;
  i64 correlation_ = 0;
};

TEST(Iterations, OfPrefillAndGraphsEachIsFound) {
  Engine e;
  Rows expected;
  for (const bool is_prefill : {true, false, false, true, false}) {
    expected.emplace_back(e.now() + 30, 0);
    e.iterate(is_prefill);
  }
  for (size_t i = 0; i + 1 < expected.size(); ++i) expected[i].second = expected[i + 1].first;
  expected.back().second = e.now();
  const TracePtr t = e.build();
  const Iterations found = find_iterations(*t);
  EXPECT_EQ(rows_of(found), expected);
  EXPECT_TRUE(found.from_graphs);
  EXPECT_EQ(t->strings()[found.mark], "cudaGraphLaunch");
  EXPECT_EQ(t->steps().source, StepSource::graph_launches);
  EXPECT_EQ(t->steps().steps.size(), 5u);
}

TEST(Iterations, WithoutGraphsTheSequenceOfKernelsTells) {
  Engine e;
  for (int i = 0; i < 6; ++i) e.iterate(i == 2, false);
  const TracePtr t = e.build();
  EXPECT_EQ(find_iterations(*t).windows.size(), 6u);
  EXPECT_EQ(t->steps().source, StepSource::kernel_sequence);
  EXPECT_EQ(t->steps().mark_name, "cudaStreamSynchronize");
}

TEST(Iterations, WhatIsCutOffIsNone) {
  Engine e;
  e.launch("flash_splitkv");  // recording began in an iteration
  e.launch("logits");
  e.launch("ArgMaxOps");
  e.copy_to_host();
  e.wait();
  const Ns first = e.now() + 30;
  for (int i = 0; i < 3; ++i) e.iterate(false);
  const Ns end = e.now();
  e.pause(30);
  e.launch("Memcpy HtoD (Pinned -> Device)", 2, "gpu_memcpy");  // and ended in another
  const TracePtr t = e.build();
  const Iterations found = find_iterations(*t);
  ASSERT_EQ(found.windows.size(), 3u);
  EXPECT_EQ(found.windows.front().start, first);
  EXPECT_EQ(found.windows.back().end, end);
}

TEST(Iterations, TheyBeginWithTheSpanAroundTheirFirstLaunch) {
  Engine e;
  std::vector<Ns> starts;
  for (int i = 0; i < 4; ++i) {
    starts.push_back(e.now());
    e.iterate(false);
    e.span("cpu_op", "run", starts.back());
  }
  e.span("python_function", "main", 990);
  const Iterations found = find_iterations(*e.build());
  ASSERT_EQ(found.windows.size(), 4u);
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(found.windows[i].start, starts[i]);
}

// As vLLM waits, before it writes the next inputs to where the last ones were.
TEST(Iterations, AWaitAtTheBeginningTellsTheLastOneToo) {
  Engine e;
  for (int i = 0; i < 4; ++i) {
    e.pause(30);
    e.wait();
    e.launch("Memcpy HtoD (Pinned -> Device)", 2, "gpu_memcpy");
    e.graph({"embed", "gemm_64", "flash_splitkv"});
    e.launch("logits");
  }
  EXPECT_EQ(find_iterations(*e.build()).windows.size(), 4u);
}

// Two waits in each iteration, of which one is in its midst: the copies and the choice of tokens tell.
TEST(Iterations, AWaitAmidAnIterationEndsNone) {
  Engine e;
  for (int i = 0; i < 5; ++i) {
    e.pause(20);
    e.launch("lengths");
    e.wait();
    e.iterate(false, false);
  }
  const Iterations found = find_iterations(*e.build());
  EXPECT_EQ(found.windows.size(), 5u);
}

TEST(Iterations, PiecewiseGraphsAreOfTheIterationThatLaunchesThem) {
  Engine e;
  for (int i = 0; i < 4; ++i) {
    e.pause(30);
    e.launch("Memcpy HtoD (Pinned -> Device)", 2, "gpu_memcpy");
    e.graph({"embed", "gemm"});
    for (int layer = 0; layer < 6; ++layer) {
      e.launch("flash");
      e.graph({"gemm", "norm"});
    }
    e.launch("ArgMaxOps");
    e.copy_to_host();  // nobody waits
  }
  const TracePtr t = e.build();
  EXPECT_EQ(find_iterations(*t).windows.size(), 4u);
  EXPECT_EQ(t->steps().source, StepSource::graph_launches);
}

// Kernels alone, on a stream: the period of eleven, and before it what is no part of it.
TEST(Iterations, APeriodOfKernelsTells) {
  TraceBuilder b;
  Ns now = 0;
  const auto run = [&](const char* name) {
    b.span("kernel", name, 0, 7, now, 10, {{Arg::device, 0}, {Arg::stream, 7}});
    now += 11;
  };
  for (const char* name : {"warm", "up"}) run(name);
  std::vector<Ns> starts;
  for (int i = 0; i < 5; ++i) {
    now += 50;
    starts.push_back(now);
    run("embed");
    for (int layer = 0; layer < 3; ++layer)
      for (const char* name : {"norm", "gemm", "flash"}) run(name);
    run("logits");
  }
  const Iterations found = find_iterations(*b.build());
  ASSERT_EQ(found.windows.size(), 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(found.windows[i].start, starts[i]);
  EXPECT_EQ(found.windows.back().end, now - 1);
}

TEST(Iterations, WeakEvidenceIsNone) {
  const auto count = [](Engine& e) { return find_iterations(*e.build()).windows.size(); };
  Engine twice;
  for (int i = 0; i < 2; ++i) twice.iterate(false);
  EXPECT_EQ(count(twice), 0u);

  Engine training;
  for (int i = 0; i < 5; ++i) {
    training.iterate(false);
    training.launch("flash_bwd_kernel");
  }
  EXPECT_EQ(count(training), 0u);

  Engine unlike;  // each turn has other kernels
  for (int i = 0; i < 5; ++i) {
    unlike.launch("a");
    unlike.launch("b");
    for (int j = 0; j <= i; ++j) unlike.launch("c" + std::to_string(i));
    unlike.wait();
  }
  EXPECT_EQ(count(unlike), 0u);

  Engine micro;  // a few kernels again and again
  for (int i = 0; i < 50; ++i) {
    micro.launch("add");
    micro.launch("mul");
  }
  EXPECT_EQ(count(micro), 0u);

  Engine in_one_graph;
  std::vector<std::string> turns;
  for (int i = 0; i < 5; ++i)
    for (const char* kernel : {"embed", "gemm", "ArgMaxOps"}) turns.emplace_back(kernel);
  in_one_graph.graph(turns);
  EXPECT_EQ(count(in_one_graph), 0u);

  Engine mostly_other;
  for (int i = 0; i < 5; ++i) mostly_other.iterate(false);
  mostly_other.launch("long", 10'000);
  EXPECT_EQ(count(mostly_other), 0u);

  EXPECT_TRUE(find_iterations(*TraceBuilder().build()).windows.empty());
}

TEST(Iterations, OfAHostAloneTheCallsTell) {
  TraceBuilder b;
  Ns now = 0;
  for (int i = 0; i < 4; ++i) {
    for (const char* call : {"hipMemcpyAsync", "hipGraphLaunch", "hipLaunchKernel", "hipEventSynchronize"}) {
      b.span("cuda_runtime", call, 1, 1, now, 5);
      now += 10;
    }
  }
  const TracePtr t = b.build();
  const Iterations found = find_iterations(*t);
  EXPECT_EQ(rows_of(found), (Rows{{0, 40}, {40, 80}, {80, 120}, {120, 155}}));
  EXPECT_EQ(t->strings()[found.mark], "hipGraphLaunch");

  TraceBuilder without_graphs;
  now = 0;
  for (int i = 0; i < 16; ++i) {
    for (const char* call : {"cudaMemcpyAsync", "cudaStreamSynchronize"}) {
      without_graphs.span("cuda_runtime", call, 1, 1, now, 5);
      now += 10;
    }
  }
  EXPECT_TRUE(find_iterations(*without_graphs.build()).windows.empty());
}

// Eight times the events take about eight times as long; with the square of them it would be 64 times.
TEST(Iterations, TimeGrowsWithTheEventsAlone) {
  const auto measure = [](int iterations, bool has_waits) {
    Engine e;
    for (int i = 0; i < iterations; ++i) {
      if (has_waits) {
        e.iterate(i % 8 == 0);
      } else {
        e.pause(30);
        for (const char* kernel : {"embed", "q", "k", "v", "q", "k", "v", "logits"}) e.launch(kernel);
      }
    }
    const TracePtr trace = e.build();
    trace->device_work();
    trace->nesting();
    std::clock_t best = std::numeric_limits<std::clock_t>::max();
    for (int i = 0; i < 3; ++i) {
      const std::clock_t start = std::clock();
      EXPECT_EQ(find_iterations(*trace).windows.size(), static_cast<size_t>(iterations));
      best = std::min(best, std::clock() - start);
    }
    return static_cast<double>(best);
  };
  for (const bool has_waits : {true, false})
    EXPECT_LT(measure(24'000, has_waits), 24 * measure(3'000, has_waits));
}

}  // namespace
}  // namespace spotter::trace
