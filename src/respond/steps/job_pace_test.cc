#include "respond/steps/job_pace.h"

#include <gtest/gtest.h>

#include "respond/test_rules.h"

namespace spotter::respond {
namespace {

using namespace test;

constexpr Ns kStart = 1'795'000'000 * kSecond;

class Host {
 public:
  // A second in which so many steps end, each of which takes so long.
  void second(i64 count, Ns took, i64 rank = 2) {
    at += kSecond;
    steps += count;
    const Table table = table_of("step", {{{"job", "7"},
                                           {"rank", rank},
                                           {"user", "alice"},
                                           {"source", "profilerStep"},
                                           {"step_ns", took},
                                           {"step_longest_ns", took},
                                           {"step_age_ns", i64{0}},
                                           {"steps", steps}}});
    paces.see({.table = table, .at = at});
  }
  void seconds(int n, i64 count, Ns took) {
    for (int i = 0; i < n; ++i) second(count, took);
  }

  JobPaces paces;
  Ns at = kStart;
  i64 steps = 500;
};

// An elastic job begins anew, and this host has other ranks of it.
TEST(JobPaces, OfRanksThatHaveLeft) {
  Host host;
  host.seconds(30, 4, 250 * kMillisecond);
  for (int i = 0; i < 30; ++i) host.second(4, 250 * kMillisecond, 9);
  EXPECT_EQ(host.paces.of("7")->last_step, host.at);
}

TEST(JobPaces, HowAJobGoesOn) {
  Host host;
  EXPECT_FALSE(host.paces.of("7"));
  host.seconds(30, 4, 250 * kMillisecond);
  const JobPace pace = *host.paces.of("7");
  EXPECT_EQ(pace.user, "alice");
  EXPECT_EQ(pace.first, kStart + kSecond);
  EXPECT_EQ(pace.steps, 116) << "those that were seen";
  EXPECT_EQ(pace.step, 250 * kMillisecond);
  EXPECT_EQ(pace.last_step, host.at);
  EXPECT_EQ(pace.longest, 250 * kMillisecond);
  const Table jobs = table_of(
      "job",
      {{{"job", "7"}, {"rank", i64{2}}, {"user", "alice"}, {"world_size", i64{8}}, {"write_bytes", i64{0}}},
       {{"job", "7"}, {"rank", i64{3}}, {"user", "alice"}, {"world_size", i64{8}}, {"write_bytes", i64{0}}}});
  host.paces.see({.table = jobs, .at = host.at});
  EXPECT_EQ(host.paces.of("7")->world_size, 8);
  EXPECT_EQ(host.paces.of("7")->ranks, (std::set<i64>{2, 3}));
  EXPECT_EQ(host.paces.of("7")->last_writing, 0);
  const Table written = table_of("job", {{{"job", "7"},
                                          {"rank", i64{2}},
                                          {"user", "alice"},
                                          {"world_size", i64{8}},
                                          {"write_bytes", i64{700'000'000}}}});
  host.at += 10 * kSecond;
  host.paces.see({.table = written, .at = host.at});
  EXPECT_EQ(host.paces.of("7")->last_writing, host.at);
  host.paces.see({.table = table_of("job", {{{"job", "8"}, {"user", "bob"}}}), .at = host.at + kHour});
  EXPECT_FALSE(host.paces.of("7"));
}

TEST(JobPaces, TheLongestIsOfTheLastFew) {
  Host host;
  host.seconds(60, 1, 100 * kMillisecond);
  host.second(1, 30 * kSecond);  // a checkpoint
  host.seconds(30, 1, 100 * kMillisecond);
  EXPECT_EQ(host.paces.of("7")->longest, 100 * kMillisecond);
  host.seconds(2, 1, kSecond);
  EXPECT_EQ(host.paces.of("7")->longest, kSecond);
}

// News come each second: of a step that has gone on for five nobody knows how long it takes, but that.
TEST(JobPaces, TheStepUnderWayMayBeTheLongest) {
  Host host;
  host.seconds(30, 10, 100 * kMillisecond);
  const JobPace pace = *host.paces.of("7");
  EXPECT_EQ(pace.longest_until(host.at + kSecond / 2), 100 * kMillisecond);
  EXPECT_EQ(pace.longest_until(host.at + 5 * kSecond), 4 * kSecond);
  EXPECT_EQ(pace.longest_until(host.at - kMinute), 100 * kMillisecond);    // a clock that was put back
  EXPECT_EQ(JobPace{.longest = kSecond}.longest_until(host.at), kSecond);  // another host's
}

// Under its id: torchrun or Slurm start it once more.
TEST(JobPaces, AJobThatBeginsAnewIsYoung) {
  Host host;
  host.seconds(600, 4, 250 * kMillisecond);
  host.steps = 0;
  host.seconds(3, 4, 250 * kMillisecond);
  const JobPace pace = *host.paces.of("7");
  EXPECT_EQ(pace.first, host.at - 2 * kSecond);
  EXPECT_EQ(pace.steps, 8);
  EXPECT_FALSE(host.paces.cost("7", 0, host.at - kMinute, host.at - 30 * kSecond).overhead_ratio)
      << "steps of the run before are compared with nothing";
}

// A log tells of the job, and of no rank.
TEST(JobPaces, StepsWithoutARankCountToo) {
  JobPaces paces;
  for (i64 i = 1; i <= 60; ++i) {
    const Ns took = i < 40 ? kSecond : 2 * kSecond;
    paces.see({.table = table_of("step", {{{"job", "7"},
                                           {"user", "alice"},
                                           {"step_ns", took},
                                           {"step_longest_ns", took},
                                           {"step_age_ns", i64{0}},
                                           {"steps", i}}}),
               .at = kStart + i * kSecond});
  }
  EXPECT_NEAR(*paces.cost("7", 0, kStart + 40 * kSecond, kStart + 50 * kSecond).overhead_ratio, 2, 0.01);
}

TEST(JobPaces, WhatACaptureHasCost) {
  Host host;
  host.seconds(60, 4, 250 * kMillisecond);
  const Ns from = host.at;
  host.seconds(5, 2, 500 * kMillisecond);
  const Ns until = host.at;
  const CaptureCost at_once = host.paces.cost("7", 0, from, until);
  EXPECT_NEAR(*at_once.overhead_ratio, 2, 0.01);
  EXPECT_FALSE(at_once.aftermath_ratio) << "not known yet";
  host.seconds(20, 4, 255 * kMillisecond);
  const CaptureCost cost = host.paces.cost("7", 0, from, until);
  EXPECT_NEAR(*cost.overhead_ratio, 2, 0.01);
  EXPECT_NEAR(*cost.aftermath_ratio, 1.02, 0.001);
  EXPECT_NEAR(*cost.cost_s, 2.5, 0.3);
  // Before `since` it was another pace.
  EXPECT_FALSE(host.paces.cost("7", from, from, until).overhead_ratio);
  EXPECT_FALSE(host.paces.cost("no", 0, from, until).cost_s);
}

// Of steps of 2 ms a window of a few seconds, and what was before and after it, are some ten thousand.
TEST(JobPaces, WhatACaptureHasCostOfShortSteps) {
  Host host;
  host.seconds(60, 500, 2 * kMillisecond);
  const Ns from = host.at;
  host.seconds(7, 400, 2'500'000);
  const Ns until = host.at;
  host.seconds(120, 500, 2 * kMillisecond);  // as long as files and their analysis may take
  const CaptureCost cost = host.paces.cost("7", 0, from, until);
  ASSERT_TRUE(cost.overhead_ratio && cost.aftermath_ratio && cost.cost_s);
  EXPECT_NEAR(*cost.overhead_ratio, 1.25, 0.01);
  EXPECT_NEAR(*cost.aftermath_ratio, 1, 0.001);
  EXPECT_NEAR(*cost.cost_s, 7 * 400 * 0.0005, 0.05);
}

TEST(JobPaces, AJobIsLateAfterFiveStepsAndTenSeconds) {
  for (const Ns step : {250 * kMillisecond, 4 * kSecond}) {
    Host host;
    host.seconds(30, 1, step);
    const Ns limit = std::max(10 * kSecond, 5 * step);
    EXPECT_TRUE(host.paces.late(host.at + limit).empty());
    EXPECT_EQ(host.paces.late(host.at + limit + 1), std::vector<std::string>{"7"});
  }
}

}  // namespace
}  // namespace spotter::respond
