#include "trace/forward_links.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace spotter::trace {
namespace {

class Graph {
 public:
  EventId forward(i64 number, Ns ts, Ns dur = 10) {
    return builder_.span("cpu_op", "aten::mul", 1, 1, ts, dur, {{Arg::sequence_number, number}});
  }
  EventId backward(i64 number, Ns ts) {
    return builder_.span("cpu_op", "MulBackward0", 1, 2, ts, 10,
                         {{Arg::sequence_number, number}, {Arg::fwd_thread_id, i64{1}}});
  }
  EventId mark(i64 number, Ns ts) {
    return builder_.span("cpu_op", "autograd::engine::evaluate_function: MulBackward0", 1, 2, ts, 10,
                         {{Arg::sequence_number, number}});
  }
  TracePtr build() { return builder_.build(); }

 private:
  TraceBuilder builder_;
};

TEST(ForwardLinks, TheLastToBeginOfTheNumberIsTheNodes) {
  Graph graph;
  graph.forward(3, 0, 20);
  const EventId inner = graph.forward(3, 5);
  const EventId other = graph.forward(4, 30);
  const EventId mark = graph.mark(3, 100), backward = graph.backward(3, 101);
  graph.backward(4, 120);
  const TracePtr trace = graph.build();
  const ForwardLinks links(*trace);
  EXPECT_EQ(links.forward(3), inner);
  EXPECT_EQ(links.forward(4), other);
  EXPECT_EQ(links.forward(5), kNone);
  EXPECT_EQ(links.forward(-1), kNone);
  EXPECT_EQ(links.node(mark), 3);
  EXPECT_TRUE(links.backward().has(mark));
  EXPECT_TRUE(links.backward().has(backward));
  EXPECT_FALSE(links.backward().has(inner));
}

// An optimizer's operators make no nodes, and have the number that the next one will have.
TEST(ForwardLinks, WhatBeginsBehindTheBackwardPassIsNotItsForwardOperator) {
  Graph graph;
  const EventId forward = graph.forward(3, 0);
  graph.backward(3, 100);
  graph.forward(3, 200);
  const TracePtr trace = graph.build();
  EXPECT_EQ(ForwardLinks(*trace).forward(3), forward);
}

TEST(ForwardLinks, OperatorsWithoutNumberHaveNoNode) {
  TraceBuilder builder;
  const EventId plain = builder.span("cpu_op", "aten::mul", 1, 1, 0, 10);
  const EventId negative =
      builder.span("cpu_op", "aten::mul", 1, 1, 20, 10, {{Arg::sequence_number, i64{-7}}});
  const EventId call = builder.span("cuda_runtime", "autograd::engine::evaluate_function", 1, 1, 40, 10);
  const TracePtr trace = builder.build();
  const ForwardLinks links(*trace);
  EXPECT_EQ(links.node(plain), -1);
  EXPECT_EQ(links.node(negative), -1);
  EXPECT_FALSE(links.backward().has(call));
}

}  // namespace
}  // namespace spotter::trace
