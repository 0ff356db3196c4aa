#include "export/rewrite.h"

#include <gtest/gtest.h>

namespace spotter::export_ {
namespace {

constexpr std::string_view kEvent =
    R"({"ph": "X",  "ts": 12.3450, "pid":4, "tid": "stream 7", "args": {"pid": 1, "ts": 2}, "id": 9})";

std::string kinds(const Rewriter& rewriter) {
  Notes notes;
  rewriter.add_notes(notes);
  std::string out;
  for (const Note& note : notes.all()) out += fmt::format("{} {};", note.kind, note.count);
  return out;
}

TEST(Rewriter, WithNothingToChangeTheTextIsTheFiles) {
  const Placement all;
  Rewriter rewriter(all, nullptr, nullptr, 0);
  const std::string_view written = rewriter.rewrite(0, kEvent);
  EXPECT_EQ(written.data(), kEvent.data());
  EXPECT_EQ(written, kEvent);
  EXPECT_EQ(kinds(rewriter), "");
}

TEST(Rewriter, OnlyTheValuesThatMustBeDifferentAreReplaced) {
  Placement placement;
  placement.new_tids = {{1, 1000}};
  i64 next = 5;
  ProcessIds processes(next);
  FlowIds flows(2);
  Rewriter rewriter(placement, &processes, &flows, 1'000'001);
  EXPECT_EQ(rewriter.rewrite(0, R"({"ph": "M"})"), R"({"pid": 5, "ph": "M"})");
  EXPECT_EQ(
      rewriter.rewrite(1, kEvent),
      R"({"ph": "X",  "ts": 1012.346, "pid":6, "tid": 1000, "args": {"pid": 1, "ts": 2}, "id": 2199023255561})");
  EXPECT_EQ(rewriter.rewrite(2, "{}"), R"({"pid": 5})");
  EXPECT_EQ(rewriter.rewrite(3, R"({"pid": "4"})"), R"({"pid": 6})");  // text that is a number is that number
  EXPECT_EQ(rewriter.rewrite(4, R"({"ts": "-5.5", "pid": "Spans"})"), R"({"ts": 994.501, "pid": 7})");
  EXPECT_EQ(rewriter.rewrite(5, R"({"ts": "soon", "pid": 4})"), R"({"ts": "soon", "pid": 6})");
  EXPECT_EQ(kinds(rewriter), "unshifted_time 1;");
  EXPECT_EQ(next, 8);
}

TEST(Rewriter, LargeTimesKeepEveryNanosecond) {
  const Placement all;
  Rewriter rewriter(all, nullptr, nullptr, 1);
  EXPECT_EQ(rewriter.rewrite(0, R"({"ts": 1700000000000000.999})"), R"({"ts": 1700000000000001.000})");
  EXPECT_EQ(rewriter.rewrite(1, R"({"ts": 1.7e15})"), R"({"ts": 1700000000000000.001})");
}

TEST(Rewriter, EventsThatAreNotKeptLeaveNothing) {
  Placement placement;
  placement.keep = {false, true};
  placement.new_tids = {{1, 3}};
  Rewriter rewriter(placement, nullptr, nullptr, 0);
  EXPECT_EQ(rewriter.rewrite(0, R"({"tid": 1})"), "");
  EXPECT_EQ(rewriter.rewrite(1, R"({"tid": 1})"), R"({"tid": 3})");
}

TEST(Rewriter, WhatIsNoJsonIsMendedOrLeftOutAndCounted) {
  const Placement all;
  i64 next = 1;
  ProcessIds processes(next);
  Rewriter rewriter(all, &processes, nullptr, 0);
  EXPECT_EQ(rewriter.rewrite(0, R"({"pid": 3, "args": {"a": NaN,}})"), R"({"pid": 1, "args": {"a": "NaN"}})");
  EXPECT_EQ(rewriter.rewrite(1, R"({1: 2})"), "");
  EXPECT_EQ(kinds(rewriter), "event_left_out 1;written_anew 1;");
}

TEST(FlowIds, AreDifferentForEveryRankAndEveryText) {
  FlowIds first(0), second(1);
  EXPECT_EQ(first.of("7"), 7u);
  EXPECT_EQ(second.of("7"), (u64{1} << kFlowIdBits) + 7);
  EXPECT_EQ(first.of("\"0x1\""), kNamedFlowIds);
  EXPECT_EQ(first.of("-1"), kNamedFlowIds + 1);
  EXPECT_EQ(first.of("\"0x1\""), kNamedFlowIds);
  EXPECT_EQ(first.extra(0), kExtraFlowIds);
  EXPECT_LT(FlowIds(8191).extra(1u << 30), u64{1} << 53);
}

}  // namespace
}  // namespace spotter::export_
