#include "respond/steps/step_clock.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace spotter::respond {
namespace {

constexpr StepClockOptions kAll = {.left_out_first = 0};

// What is told of ends one second apart, of steps from..until.
std::vector<Step> add_seconds(StepClock& clock, i64 from, i64 until, Ns start = 0) {
  std::vector<Step> steps;
  for (i64 step = from; step <= until; ++step)
    if (const auto told = clock.add({.step = step, .at = start + step * kSecond})) steps.push_back(*told);
  return steps;
}

TEST(StepClock, ATimeIsTheDistanceOfTwoEnds) {
  StepClock clock(kAll);
  EXPECT_FALSE(clock.add({.step = 7, .at = 100 * kSecond}));
  const auto step = clock.add({.step = 8, .at = 103 * kSecond});
  ASSERT_TRUE(step);
  EXPECT_EQ(step->step, 8);
  EXPECT_EQ(step->end, 103 * kSecond);
  EXPECT_EQ(step->took, 3 * kSecond);
}

TEST(StepClock, OfALineEveryTenStepsItIsTheMean) {
  StepClock clock(kAll);
  clock.add({.step = 10, .at = 0});
  EXPECT_EQ(clock.add({.step = 20, .at = 15 * kSecond})->took, 1500 * kMillisecond);
}

TEST(StepClock, WhatTheSourceSaysCountsBeforeItsStampsAndTheseBeforeArrival) {
  StepClock clock(kAll);
  EXPECT_EQ(clock.add({.step = 1, .at = 0, .stamp = 10 * kSecond, .took = 4 * kSecond})->took, 4 * kSecond);
  EXPECT_EQ(clock.add({.step = 2, .at = kSecond, .stamp = 12 * kSecond})->took, 2 * kSecond);
  EXPECT_EQ(clock.add({.step = 3, .at = 2 * kSecond})->took, kSecond);
}

TEST(StepClock, TheFirstStepsOfARunAreLeftOut) {
  StepClock clock(StepClockOptions{});
  const auto steps = add_seconds(clock, 1, 60);
  ASSERT_EQ(steps.size(), 10);
  EXPECT_EQ(steps[0].step, 51);
  EXPECT_EQ(clock.counts().first, 49);  // the first end tells no time
}

TEST(StepClock, ALowerNumberIsANewRun) {
  StepClock clock(StepClockOptions{});
  EXPECT_EQ(add_seconds(clock, 1, 100).back().run, 0);
  const auto steps = add_seconds(clock, 90, 150, 1000 * kSecond);
  ASSERT_EQ(steps.size(), 11);
  EXPECT_EQ(steps[0].step, 140);
  EXPECT_EQ(steps[0].run, 1);
}

TEST(StepClock, OtherProcessesAreANewRunWhereTheyGoOnAtTheSameNumber) {
  StepClock clock(StepClockOptions{});
  add_seconds(clock, 1, 100);
  clock.restart();
  const auto steps = add_seconds(clock, 101, 160, 1000 * kSecond);
  ASSERT_EQ(steps.size(), 10);
  EXPECT_EQ(steps[0].step, 151);
  EXPECT_EQ(steps[0].run, 1);
}

TEST(StepClock, ABarDrawnAgainIsNoStep) {
  StepClock clock(kAll);
  clock.add({.step = 1, .at = 0});
  EXPECT_FALSE(clock.add({.step = 1, .at = 5 * kSecond}));
  EXPECT_EQ(clock.add({.step = 2, .at = 6 * kSecond})->took, 6 * kSecond);
  EXPECT_EQ(clock.counts().repeated, 1);
}

TEST(StepClock, TimesThatCannotBeAreCountedAndDropped) {
  StepClock clock(kAll);
  clock.add({.step = 1, .at = 100 * kSecond});
  EXPECT_FALSE(clock.add({.step = 2, .at = 100 * kSecond}));  // none
  EXPECT_FALSE(clock.add({.step = 3, .at = 40 * kSecond}));   // the clock went back
  EXPECT_EQ(clock.add({.step = 4, .at = 42 * kSecond})->took, 2 * kSecond);
  EXPECT_FALSE(clock.add({.step = 5, .at = 43 * kSecond, .took = -1}));
  EXPECT_FALSE(clock.add({.step = 6, .at = 42 * kSecond + 11 * kDay}));
  EXPECT_EQ(clock.counts().unusable, 4);
  EXPECT_EQ(clock.counts().usable, 1);
}

TEST(StepClock, NoNumberIsTooLarge) {
  constexpr i64 kMost = std::numeric_limits<i64>::max(), kLeast = std::numeric_limits<i64>::min();
  StepClock clock(kAll);
  clock.leave_out(kLeast, kLeast);
  clock.leave_out(kMost, kMost);
  for (i64 number : {kLeast, i64{0}, kMost})
    for (i64 time : {kMost, kLeast}) clock.add({.step = number, .at = time, .stamp = ~time, .took = {}});
  EXPECT_EQ(clock.counts().usable, 0);
}

TEST(StepClock, AroundACaptureOfOursAMinuteIsLeftOut) {
  StepClock clock(kAll);
  add_seconds(clock, 1, 100);
  clock.leave_out(200 * kSecond, 210 * kSecond);
  const auto steps = add_seconds(clock, 101, 400);
  std::vector<i64> numbers;
  for (const Step& step : steps) numbers.push_back(step.step);
  EXPECT_EQ(numbers[39], 140);
  EXPECT_EQ(numbers[40], 271);
  EXPECT_EQ(clock.counts().captured, 130);
}

TEST(StepClock, CapturesThatFollowEachOtherAreOneAndLaterOnesAreNot) {
  StepClock clock(kAll);
  add_seconds(clock, 1, 100);
  clock.leave_out(200 * kSecond, 210 * kSecond);
  clock.leave_out(250 * kSecond, 260 * kSecond);
  add_seconds(clock, 101, 1000);
  EXPECT_EQ(clock.counts().captured, 180);  // 141 to 320
  clock.leave_out(2000 * kSecond, 2000 * kSecond);
  add_seconds(clock, 1001, 3000);
  EXPECT_EQ(clock.counts().captured, 180 + 120);
}

TEST(StepClock, OfTwoCapturesThatAreStillToComeBothAreLeftOut) {
  StepClock clock(kAll);
  add_seconds(clock, 1, 100);
  clock.leave_out(200 * kSecond, 210 * kSecond);
  clock.leave_out(500 * kSecond, 510 * kSecond);
  const auto steps = add_seconds(clock, 101, 1000);
  EXPECT_EQ(steps[39].step, 140);
  EXPECT_EQ(steps[40].step, 571);  // and what is between them
}

TEST(StepClock, AMeanOfManyStepsIsOfAllOfTheirTime) {
  StepClock clock(kAll);
  clock.add({.step = 10, .at = 0, .took = kSecond});
  clock.leave_out(100 * kSecond, 101 * kSecond);
  EXPECT_FALSE(clock.add({.step = 1010, .at = 1000 * kSecond, .took = kSecond}));
}

TEST(StepClock, OptionsAreChecked) {
  EXPECT_TRUE(check(StepClockOptions{}));
  EXPECT_FALSE(check(StepClockOptions{.left_out_first = -1}));
  EXPECT_FALSE(check(StepClockOptions{.capture_margin = -1}));
  EXPECT_FALSE(check(StepClockOptions{.longest_step = 0}));
}

}  // namespace
}  // namespace spotter::respond
