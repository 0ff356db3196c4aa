#include "trace/nesting.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "trace/builder.h"

namespace spotter::trace {
namespace {

// The event that encloses e, or kNone.
EventId parent(const Nesting& n, EventId e) {
  const u32 p = n.parent[static_cast<size_t>(std::find(n.order.begin(), n.order.end(), e) - n.order.begin())];
  return p == kNone ? kNone : n.order[p];
}

TEST(Nesting, FollowsContainmentPerThread) {
  TraceBuilder b;
  const EventId launch = b.span("cuda_runtime", "cudaLaunchKernel", 1, 1, 12, 3);
  const EventId inner = b.span("cpu_op", "aten::add", 1, 1, 10, 10);
  const EventId other = b.span("cpu_op", "elsewhere", 1, 2, 11, 2);
  const EventId outer = b.span("user_annotation", "step", 1, 1, 0, 100);
  b.span("kernel", "k", 1, 1, 13, 1);
  const EventId next = b.span("cpu_op", "aten::mul", 1, 1, 20, 10);
  const Nesting n = compute_nesting(*b.build());
  EXPECT_EQ(parent(n, launch), inner);
  EXPECT_EQ(parent(n, inner), outer);
  EXPECT_EQ(parent(n, outer), kNone);
  EXPECT_EQ(parent(n, other), kNone);
  EXPECT_EQ(parent(n, next), outer);
  EXPECT_EQ(n.order, (std::vector<EventId>{outer, inner, launch, next, other}));
  ASSERT_EQ(n.threads.size(), 2u);
  EXPECT_EQ(n.threads[0].end, n.threads[1].begin);
  EXPECT_EQ(n.partial_overlaps, 0);
}

TEST(Nesting, EqualIntervalsNestByCategoryThenFileOrder) {
  TraceBuilder b;
  const EventId call = b.span("cuda_runtime", "call", 1, 1, 5, 0);
  const EventId second_op = b.span("cpu_op", "second", 1, 1, 5, 0);
  const EventId third_op = b.span("cpu_op", "third", 1, 1, 5, 0);
  const EventId python = b.span("python_function", "py", 1, 1, 5, 0);
  const EventId step = b.span("user_annotation", "step", 1, 1, 5, 0);
  const Nesting n = compute_nesting(*b.build());
  EXPECT_EQ(n.order, (std::vector<EventId>{step, python, second_op, third_op, call}));
  EXPECT_EQ(n.parent, (std::vector<u32>{kNone, 0, 1, 2, 3}));
}

TEST(Nesting, ASpanOfNoLengthBelongsToTheLastThatTouchesIt) {
  TraceBuilder b;
  const EventId first = b.span("cpu_op", "a", 1, 1, 0, 5);
  const EventId at_end = b.span("cuda_runtime", "c", 1, 1, 5, 0);
  const EventId second = b.span("cpu_op", "b", 1, 1, 10, 5);
  const EventId third = b.span("cpu_op", "b", 1, 1, 15, 5);
  const EventId between = b.span("cuda_runtime", "c", 1, 1, 15, 0);
  const Nesting n = compute_nesting(*b.build());
  EXPECT_EQ(parent(n, at_end), first);
  EXPECT_EQ(parent(n, second), kNone);
  EXPECT_EQ(parent(n, third), kNone);
  EXPECT_EQ(parent(n, between), third);
  EXPECT_EQ(n.partial_overlaps, 0);
}

// As PyTorch writes them: an annotation begins inside __enter__ and ends inside __exit__.
TEST(Nesting, SpansThatMerelyOverlapAreSiblingsAndCounted) {
  TraceBuilder b;
  const EventId body = b.span("python_function", "body", 1, 1, 0, 100);
  const EventId enter = b.span("python_function", "__enter__", 1, 1, 10, 10);
  const EventId scope = b.span("user_annotation", "scope", 1, 1, 15, 60);
  const EventId op = b.span("cpu_op", "op", 1, 1, 30, 10);
  const EventId exit = b.span("python_function", "__exit__", 1, 1, 70, 10);
  const EventId call = b.span("python_function", "call", 1, 1, 71, 2);
  const Nesting n = compute_nesting(*b.build());
  for (const EventId e : {enter, scope, exit}) EXPECT_EQ(parent(n, e), body);
  EXPECT_EQ(parent(n, op), scope);
  EXPECT_EQ(parent(n, call), exit);
  EXPECT_EQ(n.partial_overlaps, 2);
}

TEST(Nesting, OfNothingIsEmpty) {
  const Nesting n = compute_nesting(*TraceBuilder().build());
  EXPECT_TRUE(n.order.empty() && n.threads.empty());
}

}  // namespace
}  // namespace spotter::trace
