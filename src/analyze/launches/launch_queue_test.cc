#include "analyze/launches/launch_queue.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace spotter::analyze {
namespace {

// (time, length) of the first stream.
std::vector<std::pair<Ns, i64>> queue_of(const Trace& trace) {
  std::vector<std::pair<Ns, i64>> points;
  for (const QueuePoint& p : queue_points(trace, trace.device_work().streams.at(0)))
    points.emplace_back(p.time, p.length);
  return points;
}

void launch(trace::TraceBuilder& b, i64 correlation, Ns start, Ns dur) {
  b.span("cuda_runtime", "cudaLaunchKernel", 1, 1, start, dur, {{Arg::correlation, correlation}});
}
void kernel(trace::TraceBuilder& b, i64 correlation, Ns start, Ns dur) {
  b.span("kernel", "k", 0, 7, start, dur, {{Arg::stream, i64{7}}, {Arg::correlation, correlation}});
}

TEST(LaunchQueue, GrowsWithLaunchesAndShrinksWithStarts) {
  trace::TraceBuilder b;
  launch(b, 1, 0, 5);
  launch(b, 2, 10, 5);
  kernel(b, 1, 20, 100);
  kernel(b, 2, 120, 10);
  EXPECT_EQ(queue_of(*b.build()), (std::vector<std::pair<Ns, i64>>{{0, 1}, {10, 2}, {20, 1}, {120, 0}}));
}

TEST(LaunchQueue, AtOneTimeTheLaunchIsFirst) {
  trace::TraceBuilder b;
  launch(b, 1, 0, 5);
  launch(b, 2, 20, 5);
  kernel(b, 1, 20, 10);
  kernel(b, 2, 40, 10);
  EXPECT_EQ(queue_of(*b.build()), (std::vector<std::pair<Ns, i64>>{{0, 1}, {20, 2}, {20, 1}, {40, 0}}));
}

TEST(LaunchQueue, AGraphCountsOnceForEachKernel) {
  trace::TraceBuilder b;
  launch(b, 1, 0, 5);
  for (const Ns start : {10, 20, 30}) kernel(b, 1, start, 5);
  EXPECT_EQ(queue_of(*b.build()),
            (std::vector<std::pair<Ns, i64>>{{0, 1}, {0, 2}, {0, 3}, {10, 2}, {20, 1}, {30, 0}}));
}

TEST(LaunchQueue, WhatHasNoLaunchIsLeftOut) {
  trace::TraceBuilder b;
  kernel(b, 1, 20, 100);
  EXPECT_TRUE(queue_of(*b.build()).empty());
}

}  // namespace
}  // namespace spotter::analyze
