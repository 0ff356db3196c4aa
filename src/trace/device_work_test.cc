#include "trace/device_work.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace spotter::trace {
namespace {

TEST(DeviceWork, GroupsByStreamAndOrdersByTime) {
  TraceBuilder b;
  const EventId call = b.span("cuda_runtime", "cudaLaunchKernel", 9, 9, 0, 1, {{Arg::correlation, 3}});
  const EventId late = b.span("kernel", "k", 0, 0, 50, 5, {{Arg::device, 1}, {Arg::stream, 7}});
  const EventId early =
      b.span("kernel", "k", 0, 0, 10, 5, {{Arg::device, 1}, {Arg::stream, "7"}, {Arg::correlation, 3}});
  const EventId shorter = b.span("gpu_memset", "Memset", 0, 0, 50, 2, {{Arg::device, 1}, {Arg::stream, 7}});
  const EventId by_row = b.span("gpu_memcpy", "Memcpy", 0, 20, 30, 1);
  const EventId hex = b.span("kernel", "k", 0, 4, 30, 1, {{Arg::stream, "0x0"}});
  const TracePtr t = b.build();
  const DeviceWork work = compute_device_work(*t);

  EXPECT_EQ(work.event, (std::vector<EventId>{hex, by_row, early, shorter, late}));
  EXPECT_EQ(work.launch, (std::vector<EventId>{kNone, kNone, call, kNone, kNone}));
  EXPECT_EQ(work.kind, (std::vector<WorkKind>{WorkKind::compute, WorkKind::memory, WorkKind::compute,
                                              WorkKind::memory, WorkKind::compute}));
  EXPECT_EQ(work.start, (std::vector<Ns>{30, 30, 10, 50, 50}));
  EXPECT_EQ(work.end, (std::vector<Ns>{31, 31, 15, 52, 55}));
  ASSERT_EQ(work.streams.size(), 3u);
  const Stream& last = work.streams[2];
  EXPECT_EQ(work.streams[0].stream, 4);
  EXPECT_EQ(work.streams[1].stream, 20);
  EXPECT_EQ(last.device, 1);
  EXPECT_EQ(last.stream, 7);
  EXPECT_EQ(last.begin, 2u);
  EXPECT_EQ(last.end, 5u);
}

TEST(DeviceWork, AnEmptyCollectiveNameIsNone) {
  TraceBuilder b;
  b.span("kernel", "gemm", 0, 7, 1, 1, {{Arg::collective_name, ""}});
  b.span("kernel", "gemm", 0, 7, 3, 1, {{Arg::collective_name, "all_reduce"}});
  const TracePtr t = b.build();
  EXPECT_EQ(t->device_work().kind, (std::vector<WorkKind>{WorkKind::compute, WorkKind::communication}));
}

TEST(DeviceWork, CategoryDecidesWhatItIs) {
  TraceBuilder b;
  b.span("cuda_sync", "Stream Sync", 0, 7, 0, 5, {{Arg::stream, 7}, {Arg::device, 0}});
  b.span("gpu_user_annotation", "nccl:all_reduce", 0, 7, 0, 5);
  b.span("cpu_op", "triton_poi_fused_0", 9, 9, 0, 5, {{Arg::stream, 0}});
  b.span("cuda_event", "cudaEvent", 0, 7, 0, 1, {{Arg::stream, 7}});
  b.span("overhead", "Buffer Flush", -1, 0, 0, 1);
  b.mark('i', "kernel", "no span", 0, 7, 0);
  b.span("kernel", "metrics: gemm", 0, 7, 0, 1);
  b.span("mtia_ccp_events", "event_wait", 17, 7, 0, 9, {{Arg::stream, 108}});
  b.span("mtia_ccp_events", "event_record", 17, 7, 9, 1, {{Arg::stream, 108}});
  EXPECT_TRUE(compute_device_work(*b.build()).event.empty());

  const EventId legacy = b.span("Kernel", "k", 0, 7, 0, 1);
  const EventId mtia = b.span("mtia_ccp_events", "metrics: 1", 0, 7, 1, 1);
  EXPECT_EQ(compute_device_work(*b.build()).event, (std::vector<EventId>{legacy, mtia}));
}

// The stream runs in order: what has no launch was launched before what comes after it.
TEST(DeviceWork, LaunchesAreInferredFromLaterOnesOfTheStream) {
  TraceBuilder b;
  const auto launch = [&](i64 correlation, Ns start) {
    b.span("cuda_runtime", "cudaLaunchKernel", 1, 1, start, 1, {{Arg::correlation, correlation}});
  };
  const auto kernel = [&](i64 stream, Ns start, i64 correlation) {
    b.span("kernel", "k", 0, stream, start, 5, {{Arg::correlation, correlation}});
  };
  launch(1, 15);
  launch(2, 12);
  kernel(7, 10, 8);  // began before any of them
  kernel(7, 20, 9);
  kernel(7, 30, 1);
  kernel(7, 40, 2);
  kernel(7, 50, 9);  // nothing comes after it
  kernel(8, 30, 9);  // nor here
  const TracePtr t = b.build();
  EXPECT_EQ(t->device_work().launched, (std::vector<Ns>{10, 12, 15, 12, 50, 30}));
  EXPECT_EQ(t->device_work().inferred_launches, 1);
}

TEST(DeviceWork, OneNameMayBeOfSeveralKinds) {
  TraceBuilder b;
  b.span("kernel", "dma", 0, 7, 0, 1);
  b.span("mtia_ccp_events", "dma", 0, 7, 1, 1);
  b.span("kernel", "dma", 0, 7, 2, 1, {{Arg::collective_name, "allreduce"}});
  b.span("kernel", "dma", 0, 7, 3, 1);
  EXPECT_EQ(compute_device_work(*b.build()).kind,
            (std::vector<WorkKind>{WorkKind::compute, WorkKind::memory, WorkKind::communication,
                                   WorkKind::compute}));
}

}  // namespace
}  // namespace spotter::trace
