// step_time_up, step_time_creep, step_time_spikes, progress_stopped by the table `step`.
#include <gtest/gtest.h>

#include "respond/statistics/test_noise.h"
#include "respond/test_rules.h"

namespace spotter::respond {
namespace {

using namespace test;

// A job whose ranks step together, as the agent samples it each second.
class Job {
 public:
  explicit Job(Machine& machine, i64 ranks = 2) : machine_(machine), ranks_(ranks) {}

  // Its processes are others, which count from 0.
  void begin_anew() { steps_ = 0; }
  // One second, whose steps take so long each: as many as end in it.
  void second(Ns took) {
    const Ns end = machine_.at + kSecond;
    i64 now = 0;
    if (last_ == 0) last_ = machine_.at;
    while (last_ + took <= end) {
      last_ += took;
      ++now;
    }
    steps_ += now;
    std::vector<Cells> rows;
    for (i64 rank = 0; rank < ranks_; ++rank)
      rows.push_back({{"job", "4711"},
                      {"rank", rank},
                      {"user", "alice"},
                      {"source", "profilerStep"},
                      {"step_ns", now > 0 ? Value(took) : Value(i64{0})},
                      {"step_longest_ns", now > 0 ? Value(took) : Value(i64{0})},
                      {"step_age_ns", end - last_},
                      {"steps", steps_}});
    machine_.second({table_of("step", rows)});
  }
  void seconds(int count, Ns took) {
    for (int i = 0; i < count; ++i) second(took);
  }

 private:
  Machine& machine_;
  i64 ranks_;
  Ns last_ = 0;
  i64 steps_ = 0;
};

constexpr Ns kTook = 240 * kMillisecond;

TEST(StepRules, SlowerStepsAreToldOfEachRankWithNumbers) {
  Machine machine;
  Job job(machine);
  job.seconds(200, kTook);
  EXPECT_TRUE(machine.all.empty());
  job.seconds(10, kTook * 3 / 2);
  ASSERT_EQ(machine.firing(), (Names{"step_time_up", "step_time_up"}));
  const Condition& first = machine.all.front();
  EXPECT_EQ(first.family, "speed");
  EXPECT_EQ(first.job, "4711");
  EXPECT_EQ(first.host, "n1");
  EXPECT_EQ(first.rank, 0);
  EXPECT_EQ(first.source, "profilerStep");
  EXPECT_NEAR(*first.value, 0.36, 1e-9);
  EXPECT_NEAR(*first.baseline, 0.24, 1e-9);
  // The block in which it began: a few steps before the change at most.
  EXPECT_LE(machine.at - first.since, 13 * kSecond);
  job.seconds(20, kTook);
  EXPECT_TRUE(machine.firing().empty());
  EXPECT_FALSE(machine.all.back().is_firing);
}

TEST(StepRules, StepsThatStaySlowAreNormalOnceAndNotMended) {
  for (const bool stay : {true, false}) {
    Machine machine;
    Job job(machine, 1);
    job.seconds(200, kTook);
    job.seconds(stay ? 1000 : 60, kTook * 3 / 2);  // 300 blocks of 8 steps
    job.seconds(60, stay ? kTook * 3 / 2 : kTook);
    ASSERT_FALSE(machine.all.empty());
    EXPECT_FALSE(machine.all.front().is_new_normal);
    EXPECT_FALSE(machine.all.back().is_firing);
    EXPECT_EQ(machine.all.back().is_new_normal, stay);
    machine.all.clear();
    job.seconds(60, kTook * 3);  // slower still: that is another time
    ASSERT_FALSE(machine.all.empty());
    EXPECT_TRUE(machine.all.front().is_firing && !machine.all.front().is_new_normal);
  }
}

TEST(StepRules, AJobThatBeginsAnewWhileItIsSlowIsNotMended) {
  Machine machine;
  Job job(machine, 1);
  job.seconds(200, kTook);
  job.seconds(20, kTook * 3 / 2);
  ASSERT_EQ(machine.firing(), Names{"step_time_up"});
  job.begin_anew();
  job.seconds(60, kTook * 3 / 2);
  EXPECT_TRUE(machine.firing().empty());
  EXPECT_TRUE(machine.all.back().has_job_ended && !machine.all.back().is_firing);
}

// Both call their jobs by one name, as RUN_ID is for each to choose.
TEST(StepRules, AnotherUsersJobOfThatNameEndsNothing) {
  Machine machine;
  Ns ended[] = {0, 0};
  i64 steps[] = {0, 0};
  const auto second = [&](Ns slow) {
    std::vector<Cells> rows;
    for (const size_t user : {0, 1}) {
      const Ns took = user == 0 ? slow : kTook;
      if (ended[user] == 0) ended[user] = machine.at;
      i64 now = 0;
      for (; ended[user] + took <= machine.at + kSecond; ++now) ended[user] += took;
      steps[user] += now;
      rows.push_back({{"job", "train"},
                      {"rank", i64{0}},
                      {"user", user == 0 ? "alice" : "bob"},
                      {"source", "profilerStep"},
                      {"step_ns", took},
                      {"step_longest_ns", took},
                      {"step_age_ns", machine.at + kSecond - ended[user]},
                      {"steps", steps[user]}});
    }
    machine.second({table_of("step", rows)});
  };
  for (int i = 0; i < 200; ++i) second(kTook);
  for (int i = 0; i < 60; ++i) second(kTook * 3 / 2);
  EXPECT_EQ(machine.firing(), Names{"step_time_up"});
  for (const Condition& change : machine.all) EXPECT_TRUE(change.is_firing && change.user == "alice");
}

TEST(StepRules, StepsNearACaptureAreNotJudged) {
  Machine machine;
  Job job(machine, 1);
  job.seconds(200, kTook);
  machine.rules_.captured("4711", {.from = machine.at, .until = machine.at + 20 * kSecond});
  job.seconds(60, kTook * 2);  // 20 s of it, and a minute after
  EXPECT_TRUE(machine.all.empty());
  job.seconds(60, kTook * 2);
  EXPECT_EQ(machine.firing(), Names{"step_time_up"});
}

TEST(StepRules, AThresholdOfTheUserIsTheOneThatHolds) {
  Machine machine({{"step_time_up", {{"ratio", "1.6"}}}});
  Job job(machine, 1);
  job.seconds(200, kTook);
  job.seconds(30, kTook * 3 / 2);
  EXPECT_TRUE(machine.all.empty());
  job.seconds(30, kTook * 17 / 10);
  EXPECT_EQ(machine.firing(), Names{"step_time_up"});
}

TEST(StepRules, StepsThatCreepAreTold) {
  Machine machine(
      {{"step_time_creep", {{"window", "20m"}, {"for", "1m"}}}, {"step_time_up", {{"enabled", "false"}}}});
  Job job(machine, 1);
  for (int i = 0; i < 2400; ++i) job.second(kTook + i * 20'000);  // + 30 % an hour
  EXPECT_EQ(machine.firing(), Names{"step_time_creep"});
  EXPECT_EQ(machine.all.front().unit, "ratio");
  EXPECT_GT(*machine.all.front().value, 0.1);
}

TEST(StepRules, ARankThatStepsNoMoreIsCriticalAndOverWithItsNextStep) {
  Machine machine({{"progress_stopped", {{"min_age", "1m"}}}});
  Job job(machine, 1);
  job.seconds(90, kTook);
  job.seconds(59, kHour);
  EXPECT_TRUE(machine.all.empty());
  job.seconds(3, kHour);
  ASSERT_EQ(machine.firing(), Names{"progress_stopped"});
  EXPECT_EQ(machine.all.front().urgency, Urgency::critical);
  EXPECT_GE(*machine.all.front().value, 60);
  job.seconds(1, kTook);
  EXPECT_TRUE(machine.firing().empty());
}

TEST(StepRules, AJobThatBeginsAnewIsNotJudgedAtOnce) {
  Machine machine({{"progress_stopped", {{"min_age", "2m"}}}});
  Job job(machine, 1);
  job.seconds(200, kTook);
  job.begin_anew();
  job.seconds(5, kTook);
  job.seconds(100, kHour);  // it compiles, for more than the minute that is the limit
  EXPECT_TRUE(machine.firing().empty());
  job.seconds(30, kHour);
  EXPECT_EQ(machine.firing(), Names{"progress_stopped"});
}

TEST(StepRules, WhileMuchIsWrittenItIsACheckpoint) {
  Machine machine({{"progress_stopped", {{"min_age", "1m"}}}});
  Job job(machine, 1);
  i64 written = 0;
  const auto both = [&](int count, Ns took, i64 rate) {
    for (int i = 0; i < count; ++i) {
      written += rate;
      machine.second({table_of("job", {{{"job", "4711"}, {"user", "alice"}, {"write_bytes", written}}})});
      machine.at -= kSecond;
      job.second(took);
    }
  };
  both(90, kTook, 0);
  both(300, kHour, 60'000'000);
  EXPECT_TRUE(machine.all.empty());
  both(90, kHour, 0);  // it writes no more, and does not go on
  EXPECT_EQ(machine.firing(), Names{"progress_stopped"});
}

TEST(StepRules, ASpikeNowAndThenIsTold) {
  Machine machine({{"step_time_spikes", {{"for", "0s"}}}});
  Job job(machine, 1);
  job.seconds(200, kTook);
  for (const int gap : {5, 3, 8}) {
    job.seconds(gap, kTook);
    job.second(900 * kMillisecond);
  }
  EXPECT_EQ(machine.firing(), Names{"step_time_spikes"});
}

// Five kinds of healthy noise (test_noise.h) of steps of a second, as the agent would sample them: no rule of
// steps says a word. The detector's own rates are in step_time_test.cc.
TEST(StepRules, HealthyJobsAreSilent) {
  for (const Noise noise : kNoises) {
    Machine machine;
    NoisySteps steps(noise, 17);
    const Ns start = machine.at;
    i64 number = 0;
    Step next = steps.next();
    std::vector<Ns> took;
    Ns last = start;
    for (int second = 0; second < 20'000; ++second) {
      took.clear();
      while (start + next.end <= machine.at + kSecond) {
        took.push_back(next.took);
        last = start + next.end;
        ++number;
        next = steps.next();
      }
      std::ranges::sort(took);
      machine.second(
          {table_of("step", {{{"job", "1"},
                              {"rank", i64{0}},
                              {"user", "a"},
                              {"source", "profilerStep"},
                              {"step_ns", took.empty() ? Value(i64{0}) : Value(took[(took.size() - 1) / 2])},
                              {"step_longest_ns", took.empty() ? Value(i64{0}) : Value(took.back())},
                              {"step_age_ns", machine.at + kSecond - last},
                              {"steps", number}}})});
    }
    for (const Condition& condition : machine.all) {
      if (condition.rule == "step_time_spikes") continue;  // some noise has them, and they are told as such
      ADD_FAILURE() << "noise " << static_cast<int>(noise) << ": " << condition.rule;
    }
  }
}

}  // namespace
}  // namespace spotter::respond
