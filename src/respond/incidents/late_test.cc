// What comes late, or at a time that is not what it was: causes after the verdict, evidence of less, clocks
// that are set back, restarts.
#include <gtest/gtest.h>

#include "respond/incidents/incidents.h"

namespace spotter::respond {
namespace {

const std::string kId = "4711-speed-1";

struct Leader {
  void say(Condition condition) {
    condition.since = condition.at = at;
    keep(incidents.take(condition, at));
  }
  void say(const char* rule, const char* family, i64 rank, bool is_firing = true) {
    say({.rule = rule,
         .family = family,
         .job = "4711",
         .host = "gpu01",
         .rank = rank,
         .is_firing = is_firing});
  }
  void lose_gpu(i64 rank) {
    say({.rule = "gpu_fault",
         .family = "gpu",
         .urgency = Urgency::critical,
         .job = "4711",
         .host = "gpu01",
         .rank = rank});
  }
  void slow(bool is_firing = true) { say("step_time_up", "speed", 0, is_firing); }
  void pass(Ns time) {
    for (const Ns end = at + time; at < end;) {
      at += kSecond;
      keep(incidents.pass(at));
    }
  }
  void keep(const Result<Incidents::Changes>& changes) {
    ASSERT_TRUE(changes);
    count += std::ssize(*changes);
    for (const IncidentChange& change : *changes)
      if (change.word != Word::none) told.push_back(change);
  }
  Incident incident() const { return *incidents.find(kId); }

  Incidents incidents{{.cluster = "a", .host = "gpu01"}};
  Ns at = 1'795'000'000 * kSecond;
  std::vector<IncidentChange> told = {};
  i64 count = 0;
};

// Clocks are judged for half a minute; steps are slow after a quarter.
TEST(Late, ACauseThatFiresAfterItWasToldIsTold) {
  Leader leader;
  leader.slow();
  leader.pass(4 * kSecond);
  leader.keep(leader.incidents.conclude(kId, {}, leader.at));
  ASSERT_EQ(leader.incident().state, IncidentState::inconclusive);
  leader.pass(10 * kSecond);
  leader.say("gpu_throttled", "gpu", 5);
  leader.pass(10 * kSecond);
  ASSERT_TRUE(leader.incident().verdict);
  EXPECT_EQ(leader.incident().verdict->cause, "gpu_throttled");
  ASSERT_EQ(leader.told.size(), 2u);
  EXPECT_EQ(leader.told.back().word, Word::changed);
  EXPECT_EQ(leader.told.back().incident.id(), kId);
}

// It was only said with the larger one, which has been open for hours and has its cause.
TEST(Late, APartOfALargerOneThatBecomesCriticalIsToldByItself) {
  Leader leader;
  leader.slow();
  leader.pass(4 * kSecond);
  leader.say("gpu_throttled", "gpu", 5);
  leader.pass(4 * kSecond);
  ASSERT_EQ(leader.incidents.find("4711-gpu-1")->part_of, kId);
  leader.keep(leader.incidents.conclude(kId, {.verdict = Verdict{.cause = "slow_device"}}, leader.at));
  for (int minute = 0; minute < 60; ++minute) {
    leader.slow();
    leader.say("gpu_throttled", "gpu", 5);
    leader.pass(kMinute);
  }
  ASSERT_EQ(leader.told.size(), 1u);
  leader.lose_gpu(5);
  leader.pass(5 * kSecond);
  ASSERT_EQ(leader.told.size(), 2u);
  EXPECT_EQ(leader.told[1].incident.id(), "4711-gpu-1");
  EXPECT_EQ(leader.told[1].word, Word::verdict);
}

TEST(Late, WhatBecomesCriticalBeforeThereIsAVerdictIsToldAsOpened) {
  Leader leader;
  leader.slow();
  leader.pass(4 * kSecond);
  ASSERT_EQ(leader.incident().state, IncidentState::firing);
  leader.say({.rule = "step_time_up",
              .family = "speed",
              .urgency = Urgency::critical,
              .job = "4711",
              .host = "gpu02",
              .rank = 1});
  ASSERT_EQ(leader.told.size(), 1u);
  EXPECT_EQ(leader.told[0].word, Word::opened);
}

// What it was silenced for is not known any more: a silence of one rule is not one of what is worse.
TEST(Late, WhatBecomesCriticalAfterARestartIsToldThoughItWasSilenced) {
  Leader before;
  before.keep(before.incidents.silence(
      {.rule = "gpu_throttled", .until = before.at + kDay, .reason = "it is known", .by = "carol"},
      before.at));
  before.say("gpu_throttled", "gpu", 5);
  before.pass(5 * kSecond);
  ASSERT_TRUE(before.told.empty());
  Leader after;
  after.at = before.at + kMinute;
  after.incidents.restore(*before.incidents.find("4711-gpu-1"), after.at);
  after.say("gpu_throttled", "gpu", 5);
  after.pass(5 * kSecond);
  EXPECT_TRUE(after.told.empty());
  after.lose_gpu(5);
  after.pass(5 * kSecond);
  EXPECT_EQ(after.told.size(), 1u);
}

// While the report of it was under way: the other host has not got it.
TEST(Late, WhatHasBecomeMoreSinceItWasSentIsNotHandedOver) {
  Leader leader;
  leader.slow();
  leader.pass(4 * kSecond);
  leader.keep(leader.incidents.conclude(kId, {}, leader.at));
  leader.pass(kSecond);
  const std::vector<Incident> sent = leader.incidents.to_hand_over("4711");
  ASSERT_EQ(sent.size(), 1u);
  const std::vector<LedIncident> led = {{.key = sent[0].key(), .n = 1, .is_open = true}};
  leader.keep(leader.incidents.conclude(kId, {.verdict = Verdict{.cause = "slow_device"}}, leader.at));
  leader.keep(leader.incidents.hand_over(sent, led, "gpu02", leader.at));
  EXPECT_TRUE(leader.incident().is_open());
  leader.keep(leader.incidents.hand_over({}, led, "gpu02", leader.at));
  EXPECT_TRUE(leader.incident().is_open());
  leader.keep(leader.incidents.hand_over(leader.incidents.to_hand_over("4711"), led, "gpu02", leader.at));
  EXPECT_FALSE(leader.incident().is_open());
}

// Whoever goes by the id must not take one for the other.
TEST(Late, AJobThatIsCalledLikeItsHostSharesItsNumbers) {
  Leader leader;
  leader.say({.rule = "oom_kill", .family = "host", .host = "gpu01"});
  leader.pass(5 * kSecond);
  leader.say({.rule = "oom_kill", .family = "host", .job = "gpu01", .host = "gpu01"});
  leader.pass(5 * kSecond);
  leader.say({.rule = "oom_kill", .family = "host", .job = "gpu02", .host = "gpu01"});
  leader.pass(5 * kSecond);
  ASSERT_EQ(leader.told.size(), 3u);
  EXPECT_EQ(leader.told[0].incident.id(), "gpu01-host-1");
  EXPECT_EQ(leader.told[1].incident.id(), "gpu01-host-2");
  EXPECT_EQ(leader.told[2].incident.id(), "gpu02-host-1");
}

TEST(Late, WhatSpeaksForAVerdictStaysWithIt) {
  Leader leader;
  leader.slow();
  leader.pass(4 * kSecond);
  const auto of = [](i64 rank, Confidence confidence, const char* says) {
    return Conclusion{
        .verdict = Verdict{.cause = "slow_device", .confidence = confidence, .suspects = {{.rank = rank}}},
        .evidence = {{.says = says}}};
  };
  leader.keep(leader.incidents.conclude(kId, of(3, Confidence::high, "rank 3 is slow"), leader.at));
  leader.keep(leader.incidents.conclude(kId, of(5, Confidence::low, "rank 5 is slow"), leader.at));
  EXPECT_EQ(leader.incident().verdict->suspects[0].rank, 3);
  ASSERT_EQ(leader.incident().evidence.size(), 2u);
  EXPECT_EQ(leader.incident().evidence[0].says, "rank 3 is slow");
  leader.keep(leader.incidents.conclude(kId, of(5, Confidence::high, "rank 5 is slow"), leader.at));
  ASSERT_EQ(leader.incident().evidence.size(), 1u);
  EXPECT_EQ(leader.incident().evidence[0].says, "rank 5 is slow");
}

TEST(Late, AClockThatIsSetBackHoldsNothingUp) {
  Leader leader;
  leader.pass(kSecond);
  leader.slow();
  leader.at -= kHour;
  leader.pass(5 * kSecond);
  EXPECT_EQ(leader.incident().state, IncidentState::firing);
  leader.keep(leader.incidents.conclude(kId, {}, leader.at));
  leader.slow(false);
  leader.pass(kMinute);
  ASSERT_EQ(leader.incident().state, IncidentState::recovering);
  leader.at -= kHour;
  leader.pass(6 * kMinute);
  EXPECT_EQ(leader.incident().state, IncidentState::resolved);
}

// Another host may have told that it fires again while this one was away.
TEST(Late, AfterARestartWhatRecoveredIsNotOverAtOnce) {
  Leader before;
  before.slow();
  before.pass(4 * kSecond);
  before.keep(before.incidents.conclude(kId, {}, before.at));
  before.slow(false);
  before.pass(kMinute);
  ASSERT_EQ(before.incident().state, IncidentState::recovering);
  Leader after;
  after.at = before.at + 8 * kMinute;
  after.incidents.restore(before.incident(), after.at);
  after.pass(4 * kMinute);
  EXPECT_TRUE(after.told.empty());
  after.pass(2 * kMinute);
  ASSERT_EQ(after.told.size(), 1u);
  EXPECT_EQ(after.told[0].word, Word::resolved);
}

TEST(Late, WhatIsSilencedIsNotWrittenAnewEachSecond) {
  Leader leader;
  leader.slow();
  leader.pass(4 * kSecond);
  leader.keep(leader.incidents.conclude(kId, {}, leader.at));
  leader.keep(leader.incidents.silence(
      {.job = "4711", .until = leader.at + kDay, .reason = "it is known", .by = "carol"}, leader.at));
  const i64 before = leader.count;
  for (int minute = 0; minute < 5 * 60; ++minute) {
    leader.slow();
    leader.pass(kMinute);
  }
  EXPECT_LE(leader.count - before, 1);
}

TEST(Late, WhatFiresAgainWasAcknowledgedByNobody) {
  Leader leader;
  leader.slow();
  leader.pass(4 * kSecond);
  leader.keep(leader.incidents.conclude(kId, {}, leader.at));
  leader.keep(leader.incidents.acknowledge(kId, {.by = "carol", .at = leader.at}));
  leader.slow(false);
  leader.pass(6 * kMinute);
  ASSERT_EQ(leader.incident().state, IncidentState::resolved);
  leader.slow();
  leader.pass(kSecond);
  EXPECT_TRUE(leader.incident().is_open());
  EXPECT_FALSE(leader.incident().acknowledged);
}

}  // namespace
}  // namespace spotter::respond
