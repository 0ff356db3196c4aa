#include "export/overlaps.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "trace/builder.h"

namespace spotter::export_ {
namespace {

bool overlap_in_part(const Trace& t, EventId a, EventId b) {
  if (t.ts[a] > t.ts[b]) std::swap(a, b);
  return t.ts[a] < t.ts[b] && t.ts[b] < t.end(a) && t.end(a) < t.end(b);
}

std::vector<std::pair<EventId, u32>> moved(const Trace& trace) {
  std::vector<std::pair<EventId, u32>> out;
  for (const Moved& span : find_overlaps(trace)) out.emplace_back(span.event, span.lane);
  return out;
}

TEST(Overlaps, NestedAndEqualSpansStay) {
  trace::TraceBuilder builder;
  builder.span("cpu_op", "inner", 1, 1, 10, 90);  // ends with the outer one, and is written before it
  builder.span("cpu_op", "outer", 1, 1, 0, 100);
  builder.span("cpu_op", "equal", 1, 1, 10, 90);
  builder.span("cpu_op", "next", 1, 1, 100, 5);
  builder.span("cpu_op", "nothing", 1, 1, 100, 0);
  builder.span("cpu_op", "another track", 1, 2, 50, 100);
  EXPECT_TRUE(find_overlaps(*builder.build()).empty());
}

TEST(Overlaps, TheLaterOneGoesToTheFirstLineThatHasRoom) {
  trace::TraceBuilder builder;
  builder.span("kernel", "third", 0, 7, 6, 10);
  builder.span("kernel", "second", 0, 7, 5, 10);
  builder.span("kernel", "first", 0, 7, 0, 10);
  builder.span("kernel", "later", 0, 7, 12, 6);  // the first line is free again
  builder.span("kernel", "last", 0, 7, 15, 5);   // not within `later`, and behind `second`
  EXPECT_EQ(moved(*builder.build()), (std::vector<std::pair<EventId, u32>>{{0, 2}, {1, 1}, {4, 1}}));
}

TEST(Overlaps, RandomSpansDoNotOverlapInPartOnAnyLine) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    trace::TraceBuilder builder;
    const u32 n = 1 + static_cast<u32>(random() % 60);
    for (u32 i = 0; i < n; ++i) builder.span("kernel", "k", 0, random() % 2, random() % 100, random() % 30);
    const TracePtr trace = builder.build();
    std::vector<u32> lane(n);
    for (const auto& [event, to] : moved(*trace)) lane[event] = to;
    bool any = false;
    for (EventId a = 0; a < n; ++a) {
      for (EventId b = 0; b < a; ++b) {
        if (trace->track[a] != trace->track[b] || !overlap_in_part(*trace, a, b)) continue;
        any = true;
        ASSERT_NE(lane[a], lane[b]) << seed << ": " << a << ' ' << b;
      }
    }
    ASSERT_TRUE(any || moved(*trace).empty()) << seed;
  }
}

TEST(Overlaps, ArrowsGoWithTheSpansTheyPointAt) {
  trace::TraceBuilder builder;
  const auto kernel = [&](Ns ts, Ns dur, i64 correlation) {
    return builder.span("kernel", "k", 0, 7, ts, dur, {{Arg::correlation, correlation}});
  };
  const auto arrow = [&](Ns ts, i64 id) {
    return builder.mark('f', "ac2g", "ac2g", 0, 7, ts, {{Arg::flow_id, id}});
  };
  kernel(0, 10, 1);
  const EventId to_first = arrow(0, 1);
  kernel(5, 10, 2);                      // moved
  kernel(5, 3, 3);                       // not: it nests in the first
  const EventId to_moved = arrow(5, 2);  // by its correlation
  const EventId to_other = arrow(5, 3);
  const EventId of_none = arrow(5, 77);  // stays on the first line, where a span starts too
  kernel(20, 10, 4);
  kernel(25, 10, 5);  // moved, alone at its start
  const EventId to_alone = arrow(25, 99);
  const TracePtr trace = builder.build();
  std::vector<EventId> events;
  for (const Moved& moved : find_moved_flows(*trace, find_overlaps(*trace))) {
    EXPECT_EQ(moved.lane, 1u);
    events.push_back(moved.event);
  }
  EXPECT_EQ(events, (std::vector<EventId>{to_moved, to_alone})) << to_first << to_other << of_none;
}

TEST(Overlaps, MoreLinesThanAllowedEndOnTheLast) {
  trace::TraceBuilder builder;
  for (i64 i = 0; i < 2 * kMostLanes; ++i) builder.span("kernel", "k", 0, 7, i, 10'000);
  const TracePtr trace = builder.build();
  const std::vector<Moved> all = find_overlaps(*trace);
  EXPECT_EQ(all.size(), 2 * kMostLanes - 1);
  EXPECT_EQ(all.back().lane, kMostLanes - 1);
}

}  // namespace
}  // namespace spotter::export_
