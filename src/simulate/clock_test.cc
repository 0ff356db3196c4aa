#include "simulate/clock.h"

#include <gtest/gtest.h>

#include "base/time.h"

namespace spotter::simulate {
namespace {

TEST(Clock, IsOffByUpToWhatWasAskedForAndDrifts) {
  Spec spec;
  spec.clock_offset = 5 * kMillisecond;
  for (i64 node = 0; node < 100; ++node) {
    const Clock clock = clock_of(spec, node);
    EXPECT_LE(std::abs(clock.offset), spec.clock_offset);
    EXPECT_LE(std::abs(clock.drift), 20'000);
    EXPECT_EQ(clock.at(0), clock.offset);
    EXPECT_EQ(clock.at(2 * kSecond), 2 * kSecond + clock.offset + 2 * clock.drift);
  }
  EXPECT_NE(clock_of(spec, 0).offset, clock_of(spec, 1).offset);
  EXPECT_NE(clock_of(spec, 0).drift, clock_of(spec, 1).drift);
}

TEST(Clock, IsRightUnlessAskedFor) { EXPECT_EQ(clock_of({}, 3).at(7), 7); }

}  // namespace
}  // namespace spotter::simulate
