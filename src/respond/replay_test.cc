#include "respond/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "respond/rules_table.h"
#include "respond/test_rules.h"

namespace spotter::respond {
namespace {

constexpr Ns kBegin = 1'795'000'000 * kSecond;

struct Made {
  int seconds = 3600, slow_from = 1 << 30, slow_until = 1 << 30;
  double slow = 1.3;
  Ns every = kSecond;  // how often the history has a sample
  int ranks = 2;
};

// Steps of 0.5 s as a history has them: two in each second, of all ranks, rows by rank, then time.
Table steps(const Made& made, int from, int until) {
  std::vector<test::Cells> rows;
  const int every = static_cast<int>(made.every / kSecond);
  for (i64 rank = 0; rank < made.ranks; ++rank) {
    for (int second = from - from % every; second < until; second += every) {
      std::mt19937 noise(static_cast<unsigned>(second * 7 + rank));
      const bool is_slow = second >= made.slow_from && second < made.slow_until;
      const double took =
          0.5e9 * (is_slow ? made.slow : 1) * std::normal_distribution<double>(1, 0.01)(noise);
      rows.push_back({{"time_ns", kBegin + second * kSecond},
                      {"job", "4711"},
                      {"rank", rank},
                      {"user", "alice"},
                      {"source", "profilerStep"},
                      {"step_ns", static_cast<i64>(took)},
                      {"step_longest_ns", static_cast<i64>(took)},
                      {"step_age_ns", i64{100'000'000}},
                      {"steps", i64{2} * second}});
    }
  }
  return test::table_of("step", rows);
}

std::vector<Occurrence> replayed(const Made& made, int window, const RuleSettings& settings = {}) {
  Replay replay({.settings = settings, .host = "n1"});
  for (int from = 0; from < made.seconds; from += window) {
    const Table table = steps(made, from, std::min(made.seconds, from + window));
    replay.add(std::span(&table, 1));
  }
  return replay.found();
}

TEST(Replay, ASlowDownIsFoundAndTold) {
  const Made made{.slow_from = 2000, .slow_until = 2600};
  const auto found = replayed(made, 600);
  ASSERT_EQ(found.size(), 2U);  // both ranks
  for (const Occurrence& one : found) {
    EXPECT_EQ(one.condition.rule, "step_time_up");
    EXPECT_EQ(one.condition.job, "4711");
    EXPECT_NEAR(static_cast<double>(one.condition.since - kBegin) / 1e9, 2000, 20);
    EXPECT_NEAR(static_cast<double>(one.ended - kBegin) / 1e9, 2600, 60);
    EXPECT_NEAR(*one.condition.value, 0.65, 0.01);
    EXPECT_NEAR(*one.condition.baseline, 0.5, 0.01);
    EXPECT_EQ(one.incident, "4711-speed-1");
    EXPECT_TRUE(one.is_told);
  }
}

TEST(Replay, AHealthyJobIsNothing) { EXPECT_TRUE(replayed({}, 600).empty()); }

TEST(Replay, WindowsChangeNothing) {
  const Made made{.slow_from = 2000, .slow_until = 2600};
  const auto whole = replayed(made, 3600), small = replayed(made, 37);
  ASSERT_EQ(whole.size(), small.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(whole[i].condition.since, small[i].condition.since);
    EXPECT_EQ(whole[i].condition.rank, small[i].condition.rank);
    EXPECT_EQ(whole[i].ended, small[i].ended);
  }
}

TEST(Replay, OtherThresholdsSayOtherThings) {
  const Made made{.slow_from = 2000, .slow_until = 2600};
  EXPECT_TRUE(replayed(made, 600, {{"step_time_up", {{"ratio", "1.5"}}}}).empty());
  EXPECT_TRUE(replayed(made, 600, {{"step_time_up", {{"enabled", "false"}}}}).empty());
}

TEST(Replay, WhatGoesOnHasNoEnd) {
  const auto found = replayed({.slow_from = 3300}, 600);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].ended, 0);
}

TEST(Replay, SaysWhatTheSamplesCannot) {
  Replay replay({.settings = {{"oom_kill", {{"enabled", "false"}}}}, .host = "n1"});
  EXPECT_EQ(replay.first(), 0);
  const Table coarse = steps({.every = 10 * kSecond}, 0, 600), fine = steps({}, 600, 1200);
  replay.add(std::span(&coarse, 1));
  EXPECT_EQ(replay.fine_since(), 0);
  replay.add(std::span(&fine, 1));
  EXPECT_EQ(replay.first(), kBegin);
  EXPECT_NEAR(static_cast<double>(replay.fine_since() - kBegin) / 1e9, 600, 2);
  const auto none = replay.without_samples();
  EXPECT_NE(std::ranges::find(none, "gpu_throttled"), none.end());
  EXPECT_EQ(std::ranges::find(none, "step_time_up"), none.end());
  EXPECT_EQ(std::ranges::find(none, "oom_kill"), none.end());
}

TEST(Replay, NothingIsToldBeforeItHasGathered) {
  const Made made{.slow_from = 2000, .slow_until = 2600};
  Replay replay({.settings = {}, .host = "n1"});
  int second = 0;
  const auto pass = [&] {
    const Table table = steps(made, second, second + 1);
    replay.add(std::span(&table, 1));
    ++second;
  };
  while (replay.found().empty() && second < 2100) pass();
  ASSERT_EQ(replay.found().size(), 2U);
  EXPECT_FALSE(replay.found()[0].is_told);
  for (int i = 0; i < 5; ++i) pass();
  EXPECT_TRUE(replay.found()[0].is_told);
}

TEST(RulesTable, GivesBackItsSettings) {
  const RuleSettings said = {{"step_time_up", {{"ratio", "1.2"}, {"enabled", "false"}, {"for", "5s"}}},
                             {"gpu_fault", {{"xids", "13, 31"}}}};
  const auto read = read_rules_table(rules_table(said));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->at("step_time_up").at("ratio"), "1.2");
  EXPECT_EQ(read->at("step_time_up").at("enabled"), "false");
  EXPECT_EQ(read->at("step_time_up").at("for"), "5s");
  EXPECT_EQ(read->at("gpu_fault").at("xids"), "13, 31");
  EXPECT_EQ(read->at("gpu_fault").at("recover"), "by hand");
  EXPECT_EQ(read->size(), all_rules().size());
  for (const Rule* rule : all_rules()) {
    for (const Setting& setting : rule->settings)
      EXPECT_TRUE(read->at(rule->name).contains(setting.key)) << setting.key;
  }
}

}  // namespace
}  // namespace spotter::respond
