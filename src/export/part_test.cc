#include "export/part.h"

#include <gtest/gtest.h>

#include "export/names.h"
#include "read/json.h"
#include "read/strict_json.h"
#include "trace/builder.h"

namespace spotter::export_ {
namespace {

// A host thread, and a stream without a name, on which two kernels overlap in part.
TracePtr small_trace() {
  trace::TraceBuilder builder;
  builder.mark('M', "", "process_name", 1, 1, 0, {{Arg::name, std::string("python")}});
  builder.span("cpu_op", "op", 1, 1, 0, 100);
  builder.span("kernel", "a", 0, 7, 10, 10, {{Arg::device, i64{0}}, {Arg::stream, i64{7}}});
  builder.span("kernel", "b", 0, 7, 15, 10, {{Arg::device, i64{0}}, {Arg::stream, i64{7}}});
  return builder.build();
}

std::string member(const std::string& event, std::string_view key) {
  for (const read::json::Member& m : read::json::members(event))
    if (m.key == key) return read::json::text_of(m.raw);
  return "none";
}

TEST(Part, OverlappingSpansAndUnnamedStreamsGetTracksWithNames) {
  const Part part = make_part(*small_trace(), nullptr, 4, {}, {});
  EXPECT_EQ(part.placement.new_tids, (std::vector<std::pair<EventId, i64>>{{3, 8}}));
  ASSERT_EQ(part.events.size(), 2u);
  EXPECT_EQ(
      part.events[0],
      R"({"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "ts": 0.000, "args": {"name": "stream 7"}})");
  EXPECT_EQ(member(part.events[1], "tid"), "8");
  EXPECT_EQ(member(part.events[1], "args"), "{\"name\": \"stream 7 (overlapping)\"}");
  EXPECT_EQ(part.device_processes.at(0), "0");
  EXPECT_EQ(part.notes.count("overlapping_spans"), 1);
}

TEST(Part, RowsKeepTheirNumbersInTheFile) {
  const std::vector<EventId> rows = {2, 5, 6, 9};
  const Part part = make_part(*small_trace(), &rows, 12, {}, {});
  EXPECT_EQ(part.placement.new_tids, (std::vector<std::pair<EventId, i64>>{{9, 8}}));
  for (EventId e = 0; e < 12; ++e) EXPECT_EQ(part.placement.keeps(e), e == 2 || e == 5 || e == 6 || e == 9);
}

TEST(Part, AnArrowHasTwoEndsInsideItsSpans) {
  const TracePtr trace = small_trace();
  const std::vector<ExtraFlow> flows = {
      {1, false, 2, false, "critical path", "spotter", ""},
      {2, true, 3, true, "critical path", "spotter", R"({"weight_ns": 5})"}};
  const Part part = make_part(*trace, nullptr, 4, flows, {});
  ASSERT_EQ(part.events.size(), 6u);
  std::vector<std::string> seen;
  for (size_t i = 2; i < 6; ++i) {
    const std::string& event = part.events[i];
    ASSERT_TRUE(read::json::is_strict(event)) << event;
    EXPECT_EQ(member(event, "bp"), "e");
    EXPECT_EQ(member(event, "cat"), "spotter");
    EXPECT_EQ(member(event, "name"), "critical path");
    EXPECT_EQ(member(event, "id"), fmt::format("{}", kExtraFlowIds + (i - 2) / 2));
    seen.push_back(member(event, "ph") + " " + member(event, "pid") + " " + member(event, "tid") + " " +
                   member(event, "ts") + " " + member(event, "args"));
  }
  EXPECT_EQ(seen,
            (std::vector<std::string>{"s 1 1 0.000 none", "f 0 7 0.010 none",
                                      "s 0 7 0.019 {\"weight_ns\": 5}",     // within [10, 20)
                                      "f 0 8 0.024 {\"weight_ns\": 5}"}));  // on the track it was moved to
}

TEST(Part, MergedRanksHaveProcessesOfTheirOwn) {
  const TracePtr trace = small_trace();
  i64 next = 1;
  for (const i64 rank : {0, 1}) {
    ProcessIds processes(next);
    FlowIds flow_ids(static_cast<u64>(rank));
    const std::vector<ExtraFlow> flows = {{1, true, 2, false, "path", "c", ""}};
    const Part part = make_part(*trace, nullptr, 4, flows, {&processes, &flow_ids, 1000});
    EXPECT_FALSE(part.placement.keeps(0));  // the name is written anew
    EXPECT_TRUE(part.placement.keeps(1));
    EXPECT_EQ(member(part.events[2], "ts"), "1.099");
    EXPECT_EQ(member(part.events[2], "id"), fmt::format("{}", flow_ids.extra(0)));
    const std::vector<std::string> names =
        process_events(part, processes, fmt::format("rank {}", rank), rank);
    ASSERT_EQ(names.size(), 4u);
    EXPECT_EQ(member(names[0], "pid"), fmt::format("{}", 1 + 2 * rank));
    EXPECT_EQ(member(names[0], "args"), fmt::format(R"({{"name": "rank {}: process 0"}})", rank));
    EXPECT_EQ(member(names[2], "args"), fmt::format(R"({{"name": "rank {}: python"}})", rank));
    EXPECT_EQ(member(names[3], "args"), fmt::format(R"({{"sort_index": {}}})", rank * 10'000 + 1));
  }
}

}  // namespace
}  // namespace spotter::export_
