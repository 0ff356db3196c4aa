#include "analyze/time/device_busy.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace spotter::analyze {
namespace {

std::vector<double> busy(const Trace& trace, Ns width) {
  const Result<Buckets> buckets = buckets_of(trace.device_work(), width);
  return means(*buckets, busy_pieces(trace.device_work(), 0));
}

std::vector<double> used(const Trace& trace, Ns width) {
  const Result<Buckets> buckets = buckets_of(trace.device_work(), width);
  std::vector<double> all = means(*buckets, *multiprocessor_pieces(trace, 0));
  for (double& mean : all) mean /= static_cast<double>(kAllMultiprocessors);
  return all;
}

void kernel(trace::TraceBuilder& builder, i64 stream, Ns ts, Ns dur, std::optional<double> blocks) {
  if (blocks)
    builder.span("kernel", "k", 0, stream, ts, dur,
                 {{Arg::device, i64{0}}, {Arg::stream, stream}, {Arg::blocks_per_sm, *blocks}});
  else
    builder.span("kernel", "k", 0, stream, ts, dur, {{Arg::device, i64{0}}, {Arg::stream, stream}});
}

TEST(DeviceBusy, StreamsCountOnceAndTheLastBucketIsShort) {
  trace::TraceBuilder builder;
  kernel(builder, 7, 100, 15, {});
  kernel(builder, 8, 110, 10, {});  // ends in the middle of the second bucket
  kernel(builder, 7, 155, 5, {});   // the whole of the last one, 155 to 160
  const TracePtr trace = builder.build();
  EXPECT_EQ(busy(*trace, 10), (std::vector<double>{1, 1, 0, 0, 0, 0.5}));
  EXPECT_EQ(busy(*trace, 55), (std::vector<double>{20.0 / 55, 1}));
  EXPECT_EQ(busy(*trace, INT64_MAX), (std::vector<double>{25.0 / 60}));
}

TEST(DeviceBusy, BlocksOfKernelsThatRunTogetherAddUpBeforeTheyAreClipped) {
  trace::TraceBuilder builder;
  kernel(builder, 7, 0, 20, 0.5);
  kernel(builder, 8, 10, 20, 0.75);  // together 1.25: clipped to 1
  kernel(builder, 9, 30, 10, 40.0);
  kernel(builder, 9, 35, 5, -1.0);
  kernel(builder, 9, 0, 40, {});
  const TracePtr trace = builder.build();
  EXPECT_EQ(used(*trace, 10), (std::vector<double>{0.5, 1, 0.75, 1}));
  EXPECT_EQ(used(*trace, 40), (std::vector<double>{3.25 / 4}));
}

TEST(DeviceBusy, WithoutTheNumberThereIsNothingToSay) {
  trace::TraceBuilder builder;
  kernel(builder, 7, 0, 20, {});
  const TracePtr trace = builder.build();
  EXPECT_FALSE(multiprocessor_pieces(*trace, 0).has_value());
  EXPECT_EQ(devices_of(trace->device_work()), std::vector<i64>{0});
}

TEST(DeviceBusy, BucketsThatAreTooNarrowAreRefused) {
  trace::TraceBuilder builder;
  kernel(builder, 7, 0, kMostBuckets, {});
  const TracePtr trace = builder.build();
  EXPECT_FALSE(buckets_of(trace->device_work(), 1).has_value());
  EXPECT_TRUE(buckets_of(trace->device_work(), 2).has_value());
  EXPECT_EQ(buckets_of(trace->device_work(), 0)->width, 10'000);
}

TEST(DeviceBusy, NoWorkNoBuckets) {
  const TracePtr trace = trace::TraceBuilder().build();
  const Result<Buckets> buckets = buckets_of(trace->device_work(), 0);
  ASSERT_TRUE(buckets);
  EXPECT_EQ(buckets->count(), 0u);
}

}  // namespace
}  // namespace spotter::analyze
