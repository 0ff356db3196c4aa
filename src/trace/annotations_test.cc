#include "trace/annotations.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace spotter::trace {
namespace {

TEST(Annotations, HaveTheirCategory) {
  TraceBuilder b;
  const EventId annotation = b.span("user_annotation", "a::b", 1, 1, 0, 1, {{Arg::fwd_thread_id, i64{1}}});
  const EventId op = b.span("cpu_op", "forward", 1, 1, 0, 1);
  const TracePtr trace = b.build();
  const Annotations annotations(*trace);
  EXPECT_TRUE(annotations.has(annotation));
  EXPECT_FALSE(annotations.has(op));
}

TEST(Annotations, WereOperatorsTo2021) {
  TraceBuilder b;
  const EventId step = b.span("Operator", "ProfilerStep#5", 1, 1, 0, 9);
  const EventId own = b.span("Operator", "my forward", 1, 1, 0, 9, {{Arg::fwd_thread_id, i64{0}}});
  const EventId op = b.span("Operator", "aten::add", 1, 1, 0, 1);
  const EventId backward = b.span("Operator", "AddBackward0", 1, 2, 0, 1, {{Arg::fwd_thread_id, i64{1}}});
  const TracePtr trace = b.build();
  const Annotations annotations(*trace);
  EXPECT_TRUE(annotations.has(step));
  EXPECT_TRUE(annotations.has(own));
  EXPECT_FALSE(annotations.has(op));
  EXPECT_FALSE(annotations.has(backward));
}

}  // namespace
}  // namespace spotter::trace
