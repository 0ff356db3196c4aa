#include "collect/pmu/pmu_counters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <map>

#include "collect/test_kernel.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

size_t open_descriptors() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

PlannedGroup group_of(std::vector<PmuColumn> columns, std::vector<i64> cpus = {}) {
  PlannedGroup group{"core", {}, std::move(cpus)};
  for (const PmuColumn column : columns) {
    PlannedEvent event;
    event.attributes.type = PERF_TYPE_RAW;
    event.attributes.config = static_cast<u64>(column) + 1;
    event.terms[0] = {column, 1};
    group.events.push_back(event);
  }
  return group;
}

constexpr auto kCycles = PmuColumn::cycles, kInstructions = PmuColumn::instructions,
               kSlots = PmuColumn::slots;
using Told = std::optional<i64>;

TEST(PmuCounters, AddsUpTheProcessors) {
  FakeKernel kernel;
  const size_t before = open_descriptors();
  {
    PmuCounters counters(kernel.system(), {group_of({kCycles, kInstructions})});
    counters.follow({0, 1, 5});
    EXPECT_EQ(counters.descriptors(), 6u);
    EXPECT_EQ(open_descriptors(), before + 6);
    EXPECT_EQ(counters.total(kCycles), Told());
    kernel.run(1000, 10);
    counters.read();
    EXPECT_EQ(counters.total(kCycles), Told(30));
    EXPECT_EQ(counters.total(kInstructions), Told(60));
    EXPECT_EQ(counters.total(kInstructions, 5), Told(20));
    EXPECT_EQ(counters.total(kSlots), Told());
    EXPECT_EQ(counters.running_ratio(), 1.0);
    EXPECT_FALSE(counters.is_partial());
  }
  EXPECT_EQ(open_descriptors(), before);
}

// Each interval is scaled by its own share: 1000 in all of the first, 100 in a tenth of the second are 2000,
// where the shares since the beginning would give 1100 / 0.55.
TEST(PmuCounters, ScalesIntervalsAndNeverShrinks) {
  FakeKernel kernel;
  PmuCounters counters(kernel.system(), {group_of({kCycles})});
  counters.follow({0});
  kernel.run(1000, 1000);
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told(1000));
  kernel.run(1000, 1000, 0.1);
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told(2000));
  EXPECT_DOUBLE_EQ(*counters.running_ratio(), 0.1);
  // Not at all in the third: what it counts in the fourth stands for both.
  kernel.run(1000, 0, 0);
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told(2000));
  EXPECT_DOUBLE_EQ(*counters.running_ratio(), 0);
  kernel.run(1000, 500);
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told(3000));
  EXPECT_DOUBLE_EQ(*counters.running_ratio(), 1);
}

TEST(PmuCounters, AGroupThatNeverRanTellsNothing) {
  FakeKernel kernel;
  PmuCounters counters(kernel.system(), {group_of({kCycles})});
  counters.follow({0});
  kernel.run(1000, 0, 0);
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told());
  EXPECT_DOUBLE_EQ(*counters.running_ratio(), 0);
}

TEST(PmuCounters, AMissingEventLeavesTheOthersOfItsGroup) {
  for (const int error : {ENOENT, EINVAL, EOPNOTSUPP}) {
    FakeKernel kernel;
    kernel.refuse = [&](const perf_event_attr& attributes, i64) {
      return attributes.config == 1 ? error : 0;
    };
    PmuCounters counters(kernel.system(), {group_of({kCycles, kInstructions})});
    counters.follow({0, 1});
    kernel.run(1000, 10);
    counters.read();
    EXPECT_EQ(counters.total(kCycles), Told());
    EXPECT_EQ(counters.total(kInstructions), Told(40));
    EXPECT_FALSE(counters.is_partial());
    EXPECT_EQ(counters.first_error(), 0);
  }
}

// Of two kinds of cores only one knows the event.
TEST(PmuCounters, AnEventOfSomeProcessorsIsPartial) {
  FakeKernel kernel;
  kernel.refuse = [](const perf_event_attr& attributes, i64 cpu) {
    return attributes.config == 2 && cpu == 1 ? ENOENT : 0;
  };
  PmuCounters counters(kernel.system(), {group_of({kCycles, kInstructions})});
  counters.follow({0, 1});
  kernel.run(1000, 10);
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told(20));
  EXPECT_EQ(counters.total(kInstructions), Told(20));
  EXPECT_TRUE(counters.is_partial());
}

TEST(PmuCounters, AColumnOfTwoEventsNeedsBoth) {
  FakeKernel kernel;
  PlannedGroup loads = group_of({PmuColumn::dtlb_misses, PmuColumn::dtlb_misses});
  loads.events[1].attributes.config = 77;
  kernel.refuse = [](const perf_event_attr& attributes, i64) { return attributes.config == 77 ? ENOENT : 0; };
  PmuCounters counters(kernel.system(), {loads});
  counters.follow({0});
  kernel.run(1000, 10);
  counters.read();
  EXPECT_EQ(counters.total(PmuColumn::dtlb_misses), Told());
}

TEST(PmuCounters, DifferencesDoNotTakeBack) {
  FakeKernel kernel;
  PlannedGroup ops = group_of({PmuColumn::bad_speculation_slots, PmuColumn::retiring_slots});
  ops.events[0].attributes.config = 3;
  ops.events[1].attributes.config = 2;
  ops.events[1].terms[1] = {PmuColumn::bad_speculation_slots, -1};
  PmuCounters counters(kernel.system(), {ops});
  counters.follow({0});
  kernel.run(1000, 10);
  counters.read();
  EXPECT_EQ(counters.total(PmuColumn::bad_speculation_slots), Told(10));
  EXPECT_EQ(counters.total(PmuColumn::retiring_slots), Told(20));
  auto& group = kernel.groups.begin()->second;
  group.enabled += 1000;
  group.running += 1000;
  group.events[1].count += 5;
  counters.read();
  EXPECT_EQ(counters.total(PmuColumn::bad_speculation_slots), Told(10));
  EXPECT_EQ(counters.total(PmuColumn::retiring_slots), Told(25));
}

TEST(PmuCounters, TooFewDescriptorsLeaveOutTheLastGroups) {
  FakeKernel kernel;
  kernel.most_descriptors = 9;
  PmuCounters counters(kernel.system(), {group_of({kCycles, kInstructions}), group_of({kSlots}),
                                         group_of({PmuColumn::l2_misses})});
  counters.follow({0, 1, 2});
  EXPECT_EQ(counters.descriptors(), 9u);
  EXPECT_EQ(counters.left_out(), 1u);
  kernel.run(1000, 1);
  counters.read();
  EXPECT_EQ(counters.total(PmuColumn::l2_misses), Told());
  EXPECT_FALSE(is_null(or_null(counters.total(kSlots))));
}

TEST(PmuCounters, NoDescriptorInTheMiddleIsPartialAndNothingLeaks) {
  FakeKernel kernel;
  const size_t before = open_descriptors();
  kernel.refuse = [](const perf_event_attr& attributes, i64 cpu) {
    return cpu == 1 && attributes.config == 2 ? EMFILE : 0;
  };
  PmuCounters counters(kernel.system(), {group_of({kCycles, kInstructions})});
  counters.follow({0, 1});
  EXPECT_EQ(open_descriptors(), before + 2);
  EXPECT_TRUE(counters.is_partial());
}

TEST(PmuCounters, ProcessorsGoAndComeBack) {
  FakeKernel kernel;
  PmuCounters counters(kernel.system(), {group_of({kCycles}), group_of({kSlots}, {1})});
  counters.follow({0, 1});
  EXPECT_EQ(counters.descriptors(), 3u);
  kernel.run(1000, 10);
  counters.read();
  const Told both = counters.total(kCycles);
  counters.follow({0});
  EXPECT_EQ(counters.descriptors(), 1u);
  counters.follow({0, 1});
  EXPECT_EQ(counters.descriptors(), 3u);
  EXPECT_EQ(counters.total(kCycles), both);
  kernel.run(1000, 10);
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told(*both + 20));
}

TEST(PmuCounters, AGroupThatCannotBeReadIsOpenedAgain) {
  for (const ssize_t error : {ssize_t{-EIO}, ssize_t{1}}) {  // 1: the end of the file
    FakeKernel kernel;
    PmuCounters counters(kernel.system(), {group_of({kCycles})});
    counters.follow({0, 1});
    kernel.run(1000, 10);
    counters.read();
    kernel.groups.begin()->second.error = error;
    kernel.run(1000, 10);
    counters.read();
    EXPECT_EQ(counters.total(kCycles), Told(30));
    EXPECT_EQ(counters.descriptors(), 1u);
    EXPECT_TRUE(counters.is_partial());
    kernel.groups.clear();  // the fake's numbers are used again
    counters.follow({0, 1});
    EXPECT_EQ(counters.descriptors(), 2u);
    EXPECT_FALSE(counters.is_partial());
  }
}

TEST(PmuCounters, CountsThatShrinkOrTimeThatStandsEndTheGroup) {
  FakeKernel kernel;
  PmuCounters counters(kernel.system(), {group_of({kCycles})});
  counters.follow({0});
  kernel.run(1000, 10);
  counters.read();
  counters.read();
  EXPECT_EQ(counters.descriptors(), 0u);
  kernel.groups.clear();
  counters.follow({0});
  kernel.run(1000, 10);
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told(20));
  kernel.run(1000, 0);
  kernel.groups.begin()->second.events[0].count = 3;
  counters.read();
  EXPECT_EQ(counters.descriptors(), 0u);
  EXPECT_EQ(counters.total(kCycles), Told(20));
}

TEST(PmuCounters, EnormousCountsStayAtTheEnd) {
  FakeKernel kernel;
  PlannedGroup group = group_of({kCycles});
  group.events[0].terms[0].weight = 64;
  PmuCounters counters(kernel.system(), {group});
  counters.follow({0});
  auto& only = kernel.groups.begin()->second;
  only.enabled = 1000;
  only.running = 1;
  only.events[0].count = ~u64{0};
  counters.read();
  EXPECT_EQ(counters.total(kCycles), Told(std::numeric_limits<i64>::max()));
}

}  // namespace
}  // namespace spotter::collect
