#include "agent/jobs/room_for_traces.h"

#include <gtest/gtest.h>

namespace spotter::agent {
namespace {

constexpr i64 kGiB = i64{1} << 30;

TEST(RoomForTraces, SoManyBytesAndATenth) {
  EXPECT_TRUE(has_room({.free_bytes = 5 * kGiB, .size_bytes = 50 * kGiB}, 5 * kGiB));
  EXPECT_FALSE(has_room({.free_bytes = 5 * kGiB - 1, .size_bytes = 20 * kGiB}, 5 * kGiB));
  EXPECT_FALSE(has_room({.free_bytes = 5 * kGiB, .size_bytes = 50 * kGiB + 10}, 5 * kGiB));
  EXPECT_FALSE(has_room({.free_bytes = 0, .size_bytes = kGiB}, 1));
}

}  // namespace
}  // namespace spotter::agent
