#include "capture/late_start.h"

#include <gtest/gtest.h>

#include <tuple>

namespace spotter::capture {
namespace {

constexpr i64 kStart = 1'700'000'010'000;

kineto::Config with(i64 warmup_ms, i64 start_ms = kStart) {
  kineto::Config config;
  config.duration_ms = 500;
  config.warmup_ms = warmup_ms;
  config.start_time_ms = start_ms;
  return config;
}

TEST(LateStart, ARequestIsDroppedByWhomeverWakesBehindTheLastMoment) {
  const kineto::Config config = with(5000);
  const Ns last = (kStart - 5000) * kMillisecond;
  const auto dropped = [&](Ns begun, bool is_idle, i64 now_ms) {
    return has_dropped(config, kStart, begun, is_idle, now_ms);
  };
  EXPECT_FALSE(dropped(last - 20 * kMillisecond, false, kStart));
  EXPECT_TRUE(dropped(last + kMillisecond, false, kStart - 4999));
  EXPECT_TRUE(dropped(last + kMillisecond, true, kStart - 4999));
  // Without a file: older ones say that they are idle, though the warm-up should have begun.
  EXPECT_FALSE(dropped(0, true, kStart - 4000));
  EXPECT_TRUE(dropped(0, true, kStart - 3999));
  EXPECT_FALSE(dropped(0, false, kStart - 3999));
}

TEST(LateStart, ByIterationsNothingIsLate) {
  kineto::Config config = with(5000, 0);
  config.iterations = 3;
  config.start_iteration = 0;
  EXPECT_FALSE(has_dropped(config, kStart, kStart * kMillisecond, true, kStart));
}

TEST(LateStart, IsAskedAgainWithTheWarmUpThatThereIsTimeFor) {
  const auto again = [](i64 ahead_ms) {
    kineto::Config config = with(5000);
    const std::string reason = ask_again(config, kStart - ahead_ms);
    return std::tuple(config.start_time_ms, config.warmup_ms, reason.find("begins later") != reason.npos);
  };
  EXPECT_EQ(again(4500), std::tuple(kStart, 3000, false));
  EXPECT_EQ(again(1000), std::tuple(kStart, 0, false));
  EXPECT_EQ(again(999), std::tuple(0, 0, true));
  EXPECT_EQ(again(-2000), std::tuple(0, 0, true));
}

TEST(LateStart, ARequestWithoutAStartIsAskedAgainAsItWas) {
  kineto::Config config = with(5000, 0);
  EXPECT_NE(ask_again(config, kStart).find("asked again"), std::string::npos);
  EXPECT_EQ(config.start_time_ms, 0);
  EXPECT_EQ(config.warmup_ms, 5000);
}

}  // namespace
}  // namespace spotter::capture
