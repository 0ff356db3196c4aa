#include <gtest/gtest.h>

#include "analyze/test_trace.h"

namespace spotter::analyze {
namespace {

TEST(Summary, SaysWhatATraceHolds) {
  trace::TraceBuilder b;
  b.info().path = "runs/7/rank3.json.gz";
  b.info().host_name = "node12";
  b.info().world_size = 8;
  b.info().base_ns = 1'000;
  for (i64 id = 0; id < 4; ++id) b.info().devices.push_back({id, id == 3 ? "Other" : "Accelerator", 0, 0});
  b.mark('M', "", "process_name", 1, 1, 0);
  b.span("Trace", "PyTorch Profiler (0)", 1, 1, 0, 10'000);
  b.span("user_annotation", "ProfilerStep#1", 1, 1, 100, 50);
  b.span("cuda_sync", "Stream Sync", 2, 7, 500, 100, {{Arg::device, i64{2}}, {Arg::stream, i64{7}}});
  b.span("kernel", "gemm", 2, 7, 300, 25, {{Arg::device, i64{2}}, {Arg::stream, i64{7}}});
  b.span("gpu_memcpy", "Memcpy HtoD", 1, 7, 320, 25, {{Arg::device, i64{1}}, {Arg::stream, i64{7}}});
  const Table table = run_map("summary", *b.build());
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(text(table, 0, "file"), "rank3.json.gz");
  EXPECT_EQ(text(table, 0, "host"), "node12");
  EXPECT_EQ(text(table, 0, "device"), "Accelerator");
  EXPECT_EQ(integer(table, 0, "world_size"), 8);
  EXPECT_EQ(integer(table, 0, "events"), 6);
  EXPECT_EQ(integer(table, 0, "spans"), 4);
  EXPECT_EQ(integer(table, 0, "device_events"), 2);
  EXPECT_EQ(integer(table, 0, "host_events"), 2);
  EXPECT_EQ(integer(table, 0, "steps"), 1);
  EXPECT_EQ(text(table, 0, "step_mark"), "ProfilerStep");
  EXPECT_EQ(integer(table, 0, "start_ns"), 1'100);
  EXPECT_EQ(integer(table, 0, "span_ns"), 500);
  EXPECT_EQ(integer(table, 0, "losses"), 0);
}

TEST(Summary, OfATraceThatSaysNothing) {
  trace::TraceBuilder b;
  const Table table = run_map("summary", *b.build());
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(integer(table, 0, "events"), 0);
  for (const char* column : {"host", "device", "world_size", "step_mark", "start_ns", "span_ns"})
    EXPECT_TRUE(is_null(cell(table, 0, column))) << column;
}

TEST(Summary, CountsLosses) {
  TraceData data;
  data.notes.add("truncated", Severity::loss, "the end is missing");
  data.notes.add("damaged_event", Severity::loss, "events were left out", 10, 5);
  data.notes.add("negative_duration", Severity::repair, "durations were negative");
  data.loaded = ArgSet::everything();
  const Trace trace(std::move(data));
  EXPECT_EQ(integer(run_map("summary", trace), 0, "losses"), 2);
}

}  // namespace
}  // namespace spotter::analyze
