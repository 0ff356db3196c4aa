#include "trace/links.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace spotter::trace {
namespace {

TEST(Links, OneLaunchMayStartManyRows) {
  TraceBuilder b;
  const EventId graph = b.span("cuda_runtime", "cudaGraphLaunch", 1, 1, 0, 5, {{Arg::correlation, 9}});
  for (i64 i = 0; i < 3; ++i) b.span("kernel", "k", 0, 7, 10 + i, 1, {{Arg::correlation, 9}});
  const LaunchLinks links = compute_links(*b.build());
  EXPECT_EQ(links.device, (std::vector<EventId>{1, 2, 3}));
  EXPECT_EQ(links.launch, (std::vector<EventId>{graph, graph, graph}));
  EXPECT_EQ(links.unlaunched, 0);
}

TEST(Links, OnlyHostCallsLaunchAndOnlyWorkIsLaunched) {
  TraceBuilder b;
  b.span("cpu_op", "op", 1, 1, 0, 9, {{Arg::correlation, 5}});
  b.mark('s', "cuda_runtime", "no span", 1, 1, 0, {{Arg::correlation, 5}});
  b.span("cuda_sync", "Stream Sync", 0, 7, 1, 2, {{Arg::correlation, 5}});
  b.span("gpu_user_annotation", "step", 0, 7, 1, 2, {{Arg::correlation, 5}});
  const EventId driver = b.span("cuda_driver", "cuLaunchKernel", 1, 1, 3, 2, {{Arg::correlation, 5}});
  const EventId kernel = b.span("kernel", "k", 0, 7, 4, 1, {{Arg::correlation, 5}});
  const EventId late = b.span("gpu_memcpy", "c", 0, 7, 9, 1, {{Arg::correlation, 6}});
  b.span("kernel", "metrics: k", 0, 7, 4, 1, {{Arg::correlation, 5}});
  const LaunchLinks links = compute_links(*b.build());
  EXPECT_EQ(links.device, (std::vector<EventId>{kernel, late}));
  EXPECT_EQ(links.launch, (std::vector<EventId>{driver, kNone}));
  EXPECT_EQ(links.unlaunched, 1);
}

TEST(Links, TheEarliestOfSeveralCallsCountsThenTheFirstInTheFile) {
  for (const i64 far : {i64{1}, i64{1} << 40}) {  // dense and sparse correlations
    TraceBuilder b;
    b.span("cuda_runtime", "late", 1, 1, 50, 1, {{Arg::correlation, far + 1}});
    const EventId early = b.span("cuda_driver", "early", 1, 1, 20, 1, {{Arg::correlation, far + 1}});
    b.span("cuda_runtime", "same time", 1, 2, 20, 1, {{Arg::correlation, far + 1}});
    const EventId other = b.span("cuda_runtime", "other", 1, 1, 1, 1, {{Arg::correlation, 1}});
    b.span("kernel", "k", 0, 7, 60, 1, {{Arg::correlation, far + 1}});
    b.span("kernel", "k", 0, 7, 61, 1, {{Arg::correlation, 1}});
    b.span("kernel", "k", 0, 7, 62, 1, {{Arg::correlation, far + 2}});
    const LaunchLinks links = compute_links(*b.build());
    EXPECT_EQ(links.launch, (std::vector<EventId>{early, other, kNone}));
    EXPECT_EQ(links.duplicate_correlations, 2);
  }
}

TEST(Links, CorrelationsOfAnotherProcessAreCounted) {
  for (const i64 far : {i64{1}, i64{1} << 40}) {  // dense and sparse correlations
    TraceBuilder b;
    b.span("cuda_runtime", "runtime", 1, 1, 20, 9, {{Arg::correlation, 1}});
    b.span("cuda_driver", "its driver call", 1, 1, 21, 1, {{Arg::correlation, 1}});
    b.span("cuda_runtime", "of another process", 2, 2, 40, 1, {{Arg::correlation, 1}});
    b.span("mtia_runtime", "on the device's side", 0, 7, 41, 1, {{Arg::correlation, 1}});
    b.span("kernel", "k", 0, 7, 60, 1, {{Arg::correlation, 1}});
    b.span("cuda_runtime", "far", 2, 2, 50, 1, {{Arg::correlation, 1 + far}});
    const LaunchLinks links = compute_links(*b.build());
    EXPECT_EQ(links.duplicate_correlations, 3);
    EXPECT_EQ(links.of_other_processes, 1);
  }
}

TEST(Links, CorrelationZeroAndBelowLinksNothing) {
  TraceBuilder b;
  for (const i64 c : {0, -1}) {
    b.span("cuda_runtime", "call", 1, 1, 0, 1, {{Arg::correlation, c}});
    b.span("kernel", "k", 0, 7, 5, 1, {{Arg::correlation, c}});
  }
  b.span("cuda_runtime", "call", 1, 1, 0, 1);
  b.span("kernel", "k", 0, 7, 5, 1);
  const LaunchLinks links = compute_links(*b.build());
  EXPECT_EQ(links.launch, (std::vector<EventId>{kNone, kNone, kNone}));
  EXPECT_EQ(links.unlaunched, 3);
  EXPECT_EQ(links.duplicate_correlations, 0);
}

}  // namespace
}  // namespace spotter::trace
