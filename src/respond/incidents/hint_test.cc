// What was measured of somebody, where no trace names him: a hint, which conditions confirm or outdo.
#include <gtest/gtest.h>

#include "respond/incidents/incidents.h"

namespace spotter::respond {
namespace {

constexpr Ns kBegan = 1'795'000'000 * kSecond;
const std::string kId = "4711-speed-1";

Conclusion hint_of(i64 rank, const char* host) {
  Verdict verdict{.cause = "rank_outlier", .confidence = Confidence::low};
  verdict.suspects.push_back({.rank = rank, .host = host});
  return {.hint = Conclusion::Hint{.verdict = verdict, .evidence = {.says = "a low clock"}}};
}

// An incident of slow steps, with what else fires, after that conclusion.
Incident concluded(Conclusion conclusion, const std::vector<Condition>& others = {}) {
  Incidents incidents({.cluster = "a", .host = "gpu01"});
  Ns at = kBegan;
  const auto say = [&](Condition condition) {
    condition.job = "4711";
    condition.since = condition.at = at;
    incidents.take(condition, at);
  };
  say({.rule = "step_time_up", .family = "speed", .host = "gpu01", .rank = 0});
  for (const Condition& other : others) say(other);
  for (int second = 0; second < 5; ++second) {
    at += kSecond;
    incidents.pass(at);
  }
  EXPECT_TRUE(incidents.conclude(kId, std::move(conclusion), at));
  return *incidents.find(kId);
}

const Condition kThrottled = {
    .rule = "gpu_throttled", .family = "gpu", .host = "gpu02", .rank = 5, .device = "gpu 1"};

TEST(Hint, IsTheVerdictWhereNothingElseIs) {
  const Incident incident = concluded(hint_of(5, "gpu02"));
  EXPECT_EQ(incident.state, IncidentState::verdict);
  EXPECT_EQ(incident.verdict->cause, "rank_outlier");
  EXPECT_EQ(incident.verdict->confidence, Confidence::low);
  EXPECT_EQ(incident.evidence.at(0).says, "a low clock");
}

TEST(Hint, ConfirmsACondition) {
  const Incident alone = concluded({}, {kThrottled}), both = concluded(hint_of(5, "gpu02"), {kThrottled});
  EXPECT_EQ(both.verdict->cause, "gpu_throttled");
  EXPECT_EQ(alone.verdict->confidence, Confidence::low);
  EXPECT_EQ(both.verdict->confidence, Confidence::medium);
  EXPECT_EQ(both.evidence.at(0).says, "a low clock");
}

// A trace's suspect; a condition that names another one makes it no surer.
TEST(Hint, AConditionThatNamesAnotherDoesNotConfirmATrace) {
  Verdict verdict{.cause = "slow_device", .confidence = Confidence::medium};
  verdict.suspects.push_back({.rank = 7, .host = "gpu01"});
  EXPECT_EQ(concluded({.verdict = verdict}, {kThrottled}).verdict->confidence, Confidence::medium);
  verdict.suspects.front() = {.rank = 5, .host = "gpu02"};
  EXPECT_EQ(concluded({.verdict = verdict}, {kThrottled}).verdict->confidence, Confidence::high);
}

// A doubt is of the verdict that it came with.
TEST(Hint, ADoubtGoesWithItsVerdict) {
  Verdict verdict{.cause = "slow_device", .confidence = Confidence::high};
  verdict.suspects.push_back({.rank = 5, .host = "gpu02"});
  Incidents incidents({.cluster = "a", .host = "gpu01"});
  Ns at = kBegan;
  incidents.take(
      {.rule = "step_time_up", .family = "speed", .job = "4711", .host = "gpu01", .since = at, .at = at}, at);
  for (int second = 0; second < 5; ++second) incidents.pass(at += kSecond);
  using Sentences = std::vector<std::string>;
  ASSERT_TRUE(incidents.conclude(kId, {.verdict = verdict, .against = {"but one", "network"}}, at));
  EXPECT_EQ(incidents.find(kId)->against, (Sentences{"but one", "network"}));
  Conclusion weaker{.verdict = verdict, .against = {"but two", "code"}};
  weaker.verdict->confidence = Confidence::low;
  ASSERT_TRUE(incidents.conclude(kId, weaker, at));
  EXPECT_EQ(incidents.find(kId)->against, (Sentences{"but one", "network", "code"})) << "it is not told";
  ASSERT_TRUE(incidents.conclude(kId, {.verdict = verdict, .against = {"but three"}}, at));
  EXPECT_EQ(incidents.find(kId)->against, (Sentences{"network", "code", "but three"}));
}

TEST(Hint, OfAnotherSpeaksAgainstACondition) {
  const Incident incident = concluded(hint_of(2, "gpu01"), {kThrottled});
  EXPECT_EQ(incident.verdict->cause, "gpu_throttled");
  EXPECT_EQ(incident.verdict->confidence, Confidence::low);
  EXPECT_EQ(incident.against, std::vector<std::string>{"but a low clock"});
  EXPECT_TRUE(incident.evidence.empty());
}

}  // namespace
}  // namespace spotter::respond
