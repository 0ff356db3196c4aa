#include "analyze/memory/copies.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace spotter::analyze {
namespace {

void copy(trace::TraceBuilder& b, const char* name, i64 stream, Ns start, Ns dur, double bandwidth) {
  b.span("gpu_memcpy", name, 0, stream, start, dur,
         {{Arg::stream, stream}, {Arg::bytes, i64{100}}, {Arg::memory_bandwidth, bandwidth}});
}

std::vector<std::pair<Ns, double>> points_of(const CopyType& type, Ns least = 0) {
  std::vector<std::pair<Ns, double>> points;
  for (const BandwidthPoint& p : bandwidth_points(type, least))
    points.emplace_back(p.time, bytes_per_s(p.bandwidth));
  return points;
}

TEST(Copies, AreToldApartByTheBeginningOfTheirNames) {
  trace::TraceBuilder b;
  copy(b, "Memcpy HtoD (Pageable -> Device)", 7, 0, 10, 1);
  copy(b, "Memcpy HtoD (Pinned -> Device)", 8, 5, 10, 1);
  copy(b, "Memset (Device)", 7, 30, 10, 1);
  copy(b, "CopyHostToDevice", 7, 50, 10, 1);
  const TracePtr trace = b.build();
  const std::vector<CopyType> types = copies_by_type(*trace);
  ASSERT_EQ(types.size(), 3u);
  EXPECT_EQ(types[0].name, "Memcpy HtoD");
  EXPECT_EQ(types[0].copies.size(), 2u);
  EXPECT_EQ(types[0].bytes, 200);
  EXPECT_EQ(types[1].name, "Memcpy Unknown");
  EXPECT_EQ(types[2].name, "Memset");
}

// 0.1 + 0.2 - 0.1 - 0.2 is not 0 in floating point.
TEST(Copies, NothingIsLeftInFlight) {
  trace::TraceBuilder b;
  copy(b, "Memcpy DtoD", 7, 0, 20, 0.1);
  copy(b, "Memcpy DtoD", 8, 10, 20, 0.2);
  const TracePtr trace = b.build();
  const std::vector<CopyType> types = copies_by_type(*trace);
  EXPECT_EQ(points_of(types.at(0)),
            (std::vector<std::pair<Ns, double>>{{0, 1e8}, {10, 3e8}, {20, 2e8}, {30, 0}}));
}

TEST(Copies, ABeginComesBeforeAnEndAndShortOnesMayCountLonger) {
  trace::TraceBuilder b;
  copy(b, "Memcpy DtoD", 7, 0, 10, 1);
  copy(b, "Memcpy DtoD", 8, 10, 0, 2);
  const TracePtr trace = b.build();
  const std::vector<CopyType> types = copies_by_type(*trace);
  EXPECT_EQ(points_of(types.at(0)),
            (std::vector<std::pair<Ns, double>>{{0, 1e9}, {10, 3e9}, {10, 2e9}, {10, 0}}));
  EXPECT_EQ(points_of(types.at(0), 1000).back(), (std::pair<Ns, double>{1010, 0}));
}

TEST(Copies, WithoutAPlausibleBandwidthCountAsNothing) {
  trace::TraceBuilder b;
  copy(b, "Memcpy DtoD", 7, 0, 10, -1);
  copy(b, "Memcpy DtoD", 7, 20, 10, 1e18);
  const TracePtr trace = b.build();
  const std::vector<CopyType> types = copies_by_type(*trace);
  EXPECT_EQ(types.at(0).without_bandwidth, 2);
  EXPECT_EQ(points_of(types.at(0)).at(0).second, 0);
}

}  // namespace
}  // namespace spotter::analyze
