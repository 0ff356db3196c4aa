#include "respond/incidents/incidents.h"

#include <gtest/gtest.h>

namespace spotter::respond {
namespace {

Condition slow(i64 rank, const char* host = "gpu01") {
  Condition condition;
  condition.rule = "step_time_up";
  condition.family = "speed";
  condition.job = "4711";
  condition.user = "alice";
  condition.host = host;
  condition.rank = rank;
  condition.value = 4.42;
  condition.baseline = 3.1;
  condition.unit = "s";
  condition.source = "profilerStep";
  return condition;
}

Condition hot(i64 rank, const char* host = "gpu01") {
  Condition condition;
  condition.rule = "gpu_throttled";
  condition.family = "gpu";
  condition.job = "4711";
  condition.host = host;
  condition.rank = rank;
  condition.device = "gpu 5";
  condition.value = 1155e6;
  condition.baseline = 1980e6;
  condition.unit = "Hz";
  return condition;
}

Verdict slow_device(i64 rank, const char* host = "gpu01") {
  return {.cause = "slow_device",
          .confidence = Confidence::medium,
          .suspects = {{.rank = rank, .host = host}},
          .sentence = "rank holds the others up"};
}

class Leader {
 public:
  explicit Leader(IncidentsOptions options = {.cluster = "a", .host = "gpu01"})
      : incidents(std::move(options)) {}

  void say(Condition condition, bool is_firing = true) {
    condition.is_firing = is_firing;
    condition.at = at;
    if (condition.since == 0) condition.since = at;
    keep(incidents.take(condition, at));
  }
  void pass(Ns time) {
    for (const Ns end = at + time; at < end;) {
      at += kSecond;
      for (const Condition& condition : standing) say(condition);
      keep(incidents.pass(at));
    }
  }
  void keep(const Result<Incidents::Changes>& changes) {
    ASSERT_TRUE(changes);
    for (const IncidentChange& change : *changes) {
      if (change.word != Word::none) told.push_back(change);
      captures += change.wants_evidence;
      last = change;
    }
  }
  std::vector<Word> words() const {
    std::vector<Word> words;
    for (const IncidentChange& change : told) words.push_back(change.word);
    return words;
  }
  IncidentState state(const std::string& id) const { return incidents.find(id)->state; }

  Incidents incidents;
  Ns at = 1'795'000'000 * kSecond;
  std::vector<Condition> standing = {};  // said again each second
  std::vector<IncidentChange> told = {};
  IncidentChange last = {};
  int captures = 0;
};

using Words = std::vector<Word>;
const std::string kId = "4711-speed-1";

Condition alert(const char* fingerprint = "alert b3d8") {
  Condition condition;
  condition.rule = condition.family = "alert";
  condition.job = "4711";
  condition.host = "gpu01";
  condition.device = fingerprint;
  condition.source = "alertmanager:StepSlow";
  return condition;
}

Condition stuck() {
  Condition condition = slow(0);
  condition.rule = "progress_stopped";
  condition.family = "progress";
  condition.urgency = Urgency::critical;
  return condition;
}

TEST(Incidents, AnAlertIsTraced) {
  Leader leader;
  leader.standing = {alert(), alert("alert 2")};
  leader.pass(5 * kSecond);
  EXPECT_EQ(leader.captures, 1);
  EXPECT_EQ(leader.incidents.find("4711-alert-1")->condition_count, 2);
  leader.standing.clear();
  leader.say(alert(), false);
  leader.pass(kSecond);
  EXPECT_EQ(leader.incidents.find("4711-alert-1")->condition_count, 2);
  leader.say(alert("alert 2"), false);
  leader.pass(7 * kMinute);
  EXPECT_EQ(leader.state("4711-alert-1"), IncidentState::resolved);
  EXPECT_EQ(leader.words().back(), Word::resolved);
}

TEST(Incidents, AnAlertIsNotTraced) {
  Condition only_diagnosed = alert();
  only_diagnosed.no_capture = true;
  struct Case {
    std::vector<Condition> standing;
    const char* why;
    int captures;  // evidence of the job that hangs
  };
  for (const auto& [standing, why, captures] :
       {Case{{only_diagnosed}, "nothing was traced: the alert asks for no capture", 0},
        Case{{alert(), stuck()}, "a job that does not go on is not traced", 1}}) {
    Leader leader;
    leader.standing = standing;
    leader.pass(10 * kSecond);
    EXPECT_EQ(leader.captures, captures) << why;
    EXPECT_EQ(leader.incidents.find("4711-alert-1")->not_known, std::vector<std::string>{why});
  }
  // The job's own incident has it traced already.
  Leader leader;
  leader.standing = {slow(0), alert()};
  leader.pass(10 * kSecond);
  EXPECT_EQ(leader.captures, 1);
  EXPECT_EQ(leader.incidents.find("4711-alert-1")->part_of, kId);
}

TEST(Incidents, WhatWasChangedIsThereWhenItIsToldFirst) {
  Leader leader({.cluster = "a", .host = "gpu01", .look_back = [](Incident& incident) {
                   incident.changes = {{.at = incident.opened - kMinute, .kind = "driver", .what = "570"}};
                 }});
  Condition critical = slow(0);
  critical.urgency = Urgency::critical;
  leader.standing = {critical};
  leader.pass(kMinute);
  ASSERT_EQ(leader.words(), (Words{Word::opened, Word::verdict}));
  for (const IncidentChange& told : leader.told) {
    ASSERT_EQ(told.incident.changes.size(), 1u);
    EXPECT_EQ(told.incident.changes[0].what, "570");
  }
}

TEST(Incidents, AlertsCanBeSilenced) {
  Leader leader;
  leader.keep(leader.incidents.silence(
      {.rule = "alert", .job = "4711", .until = leader.at + kHour, .reason = "planned"}, leader.at));
  leader.standing = {alert()};
  leader.pass(kMinute);
  EXPECT_TRUE(leader.told.empty());
}

TEST(Incidents, FromTheFirstConditionToItsResolution) {
  Leader leader;
  leader.standing = {slow(0), slow(1)};
  leader.pass(2 * kSecond);
  EXPECT_EQ(leader.state(kId), IncidentState::pending);
  leader.pass(3 * kSecond);
  EXPECT_EQ(leader.state(kId), IncidentState::firing);
  EXPECT_EQ(leader.captures, 1);
  EXPECT_TRUE(leader.told.empty());
  leader.keep(leader.incidents.investigate(kId, {.id = "c17", .ranks = "0,1"}, leader.at));
  EXPECT_EQ(leader.state(kId), IncidentState::investigating);
  leader.pass(10 * kSecond);
  leader.keep(
      leader.incidents.conclude(kId, {.verdict = slow_device(1), .against = {"network: clean"}}, leader.at));
  ASSERT_EQ(leader.words(), Words{Word::verdict});
  const Incident& incident = leader.told[0].incident;
  EXPECT_EQ(incident.key(), "a/4711/speed");
  EXPECT_EQ(incident.sequence, 1);
  EXPECT_EQ(incident.verdict->cause, "slow_device");
  EXPECT_EQ(incident.against, std::vector<std::string>{"network: clean"});
  EXPECT_EQ(incident.symptom.before, 3.1);
  EXPECT_EQ(incident.symptom.now, 4.42);
  EXPECT_EQ(incident.condition_count, 2);
  leader.standing.clear();
  leader.say(slow(0), false);
  leader.say(slow(1), false);
  leader.pass(2 * kSecond);
  EXPECT_EQ(leader.state(kId), IncidentState::recovering);
  leader.pass(5 * kMinute + kSecond);
  EXPECT_EQ(leader.state(kId), IncidentState::resolved);
  EXPECT_EQ(leader.words(), (Words{Word::verdict, Word::resolved}));
}

TEST(Incidents, OpenOnesAreCountedByStateAndSeverity) {
  Leader leader;
  const auto counted = [&] {
    std::string words;
    for (const IncidentCount& count : leader.incidents.open_counts()) {
      if (count.incidents > 0)
        words += fmt::format("{} {} {}; ", count.incidents, count.state, count.severity);
    }
    return words;
  };
  EXPECT_EQ(leader.incidents.open_counts().size(), 6U * 3U);
  EXPECT_EQ(counted(), "");
  leader.standing = {slow(0), stuck(), alert()};
  leader.pass(2 * kSecond);
  EXPECT_EQ(counted(), "2 pending warning; 1 pending critical; ");
  leader.pass(3 * kSecond);
  EXPECT_EQ(counted(), "1 firing warning; 1 firing critical; 1 inconclusive warning; ");
  leader.keep(leader.incidents.resolve(kId, "somebody", leader.at));
  EXPECT_EQ(counted(), "1 firing critical; 1 inconclusive warning; ");
}

TEST(Incidents, WhatIsOverAtOnceIsNothing) {
  Leader leader;
  leader.say(slow(0));
  leader.pass(kSecond);
  leader.say(slow(0), false);
  leader.pass(kSecond);
  EXPECT_TRUE(leader.last.is_gone);
  EXPECT_TRUE(leader.incidents.all().empty());
  leader.standing = {slow(0)};
  leader.pass(5 * kSecond);
  EXPECT_TRUE(leader.incidents.find(kId)) << "and has no number";
}

TEST(Incidents, WithoutAnAnswerInTimeItSaysSoAndALateVerdictAmendsIt) {
  Leader leader;
  leader.standing = {slow(0)};
  leader.pass(5 * kSecond);
  leader.keep(leader.incidents.investigate(kId, {.id = "c17"}, leader.at));
  leader.pass(46 * kSecond);
  EXPECT_EQ(leader.state(kId), IncidentState::inconclusive);
  EXPECT_EQ(leader.words(), Words{Word::verdict});
  leader.keep(leader.incidents.conclude(kId, {.verdict = slow_device(0)}, leader.at));
  EXPECT_EQ(leader.state(kId), IncidentState::verdict);
  EXPECT_EQ(leader.words(), (Words{Word::verdict, Word::changed}));
  leader.keep(leader.incidents.conclude(kId, {.verdict = slow_device(0)}, leader.at));
  EXPECT_EQ(leader.told.size(), 2u) << "the same again is no news";
}

TEST(Incidents, AHundredHostsAreOneIncident) {
  Leader leader;
  for (int host = 0; host < 100; ++host)
    leader.standing.push_back(slow(host, fmt::format("gpu{:02}", host).c_str()));
  leader.pass(60 * kSecond);
  EXPECT_EQ(leader.incidents.all().size(), 1u);
  EXPECT_EQ(leader.captures, 1);
  ASSERT_EQ(leader.words(), Words{Word::verdict});
  EXPECT_EQ(leader.told[0].incident.symptom.hosts, 100);
  EXPECT_EQ(leader.told[0].incident.condition_count, 100);
  EXPECT_EQ(leader.told[0].incident.conditions.size(), 3u);
}

TEST(Incidents, AMetricThatNamesTheSameSuspectMakesItSure) {
  Leader leader;
  leader.standing = {slow(0), slow(5)};
  leader.pass(5 * kSecond);
  leader.standing.push_back(hot(5));
  leader.pass(5 * kSecond);
  leader.keep(leader.incidents.conclude(kId, {.verdict = slow_device(5)}, leader.at));
  ASSERT_EQ(leader.words(), Words{Word::verdict});
  const Incident& incident = leader.told[0].incident;
  EXPECT_EQ(incident.verdict->confidence, Confidence::high);
  ASSERT_EQ(incident.evidence.size(), 1u);
  EXPECT_EQ(incident.evidence[0].says,
            "rank 5 on gpu01 (GPU 5): the clocks are held down for heat or power: 1155 MHz of 1980 MHz");
  // It is told with the larger one, and not by itself.
  EXPECT_EQ(leader.incidents.find("4711-gpu-1")->part_of, kId);
}

TEST(Incidents, WithoutACaptureMetricsAreWhatThereIs) {
  Leader leader;
  leader.standing = {slow(0), slow(5), hot(5)};
  leader.pass(5 * kSecond);
  leader.keep(leader.incidents.conclude(
      kId, {.not_known = {"the job is younger than 5 minutes: nothing was traced"}}, leader.at));
  const Incident incident = *leader.incidents.find(kId);
  ASSERT_EQ(incident.state, IncidentState::verdict);
  EXPECT_EQ(incident.verdict->cause, "gpu_throttled");
  EXPECT_EQ(incident.verdict->confidence, Confidence::low);
  EXPECT_EQ(incident.verdict->suspects[0].rank, 5);
  EXPECT_EQ(incident.verdict->suspects[0].gpu, 5);
  EXPECT_EQ(incident.not_known[0], "the job is younger than 5 minutes: nothing was traced");
}

// What is to be found out without a trace is there within seconds, and told with it: once.
TEST(Incidents, AHangIsToldWithItsEvidence) {
  Leader leader;
  Condition stopped = slow(0);
  stopped.rule = "progress_stopped";
  stopped.family = "progress";
  stopped.urgency = Urgency::critical;
  leader.standing = {stopped};
  leader.pass(5 * kSecond);
  EXPECT_EQ(leader.captures, 1) << "evidence is wanted";
  EXPECT_TRUE(leader.words().empty());
  EXPECT_FALSE(leader.incidents.concluded(stopped));
  const Verdict verdict{.cause = "hang", .suspects = {{.rank = 2}}, .sentence = "Rank 2 is stopped"};
  leader.keep(leader.incidents.conclude("4711-progress-1", {.verdict = verdict}, leader.at));
  EXPECT_EQ(leader.words(), Words{Word::verdict});
  EXPECT_EQ(leader.state("4711-progress-1"), IncidentState::verdict);
  EXPECT_TRUE(leader.incidents.concluded(stopped));
}

TEST(Incidents, AHangWithoutEvidenceIsToldWhenPatienceEnds) {
  Leader leader;
  Condition stopped = slow(0);
  stopped.rule = "progress_stopped";
  stopped.family = "progress";
  leader.standing = {stopped};
  leader.pass(60 * kSecond);
  EXPECT_EQ(leader.words(), Words{Word::verdict});
  EXPECT_EQ(leader.state("4711-progress-1"), IncidentState::inconclusive);
}

TEST(Incidents, WhatFlapsIsNotTraced) {
  Leader leader;
  leader.standing = {slow(0)};
  leader.standing[0].is_flapping = true;
  leader.pass(5 * kSecond);
  EXPECT_EQ(leader.captures, 0);
  EXPECT_EQ(leader.words(), Words{Word::verdict});
}

TEST(Incidents, WhatFiresAgainIsTheSameForAQuarterOfAnHour) {
  Leader leader;
  leader.standing = {slow(0)};
  leader.pass(60 * kSecond);
  const auto rest = [&](Ns time) {
    leader.standing.clear();
    leader.say(slow(0), false);
    leader.pass(time);
  };
  rest(kMinute);
  EXPECT_EQ(leader.state(kId), IncidentState::recovering);
  leader.standing = {slow(0)};
  leader.pass(kSecond);
  EXPECT_EQ(leader.state(kId), IncidentState::inconclusive);
  EXPECT_EQ(leader.told.size(), 1u);
  rest(10 * kMinute);
  EXPECT_EQ(leader.state(kId), IncidentState::resolved);
  leader.standing = {slow(0)};
  leader.pass(kSecond);
  EXPECT_EQ(leader.state(kId), IncidentState::inconclusive);
  EXPECT_EQ(leader.told.back().incident.fired_again, leader.told.back().incident.updated);
  EXPECT_EQ(leader.words(), (Words{Word::verdict, Word::resolved, Word::changed}));
  rest(30 * kMinute);
  leader.standing = {slow(0)};
  leader.pass(5 * kSecond);
  EXPECT_TRUE(leader.incidents.find("4711-speed-2"));
}

TEST(Incidents, WhatGoesOnIsToldAgainUnlessSomebodyHasAcknowledgedIt) {
  Leader leader;
  leader.standing = {slow(0)};
  leader.pass(4 * kHour + 2 * kMinute);
  EXPECT_EQ(leader.words(), (Words{Word::verdict, Word::changed}));
  leader.keep(leader.incidents.acknowledge(kId, {.by = "bob", .where = "command", .at = leader.at}));
  EXPECT_GT(leader.incidents.find(kId)->repeated, leader.at - kHour);
  leader.pass(9 * kHour);
  EXPECT_EQ(leader.told.size(), 3u);
}

TEST(Incidents, WhatIsSilencedIsShownAndNotToldUntilItEnds) {
  Leader leader;
  leader.keep(leader.incidents.silence(
      {.job = "4711", .until = leader.at + kHour, .reason = "a known fault", .by = "bob"}, leader.at));
  leader.standing = {slow(0)};
  leader.pass(10 * kMinute);
  EXPECT_TRUE(leader.told.empty());
  EXPECT_EQ(leader.state(kId), IncidentState::inconclusive);
  EXPECT_TRUE(leader.incidents.find(kId)->silenced_until);
  leader.pass(kHour);
  EXPECT_EQ(leader.words(), Words{Word::verdict});
}

TEST(Incidents, AFaultOfAllRanksThatExplainsLittleOfItIsNotItsCause) {
  const auto told = [](double at_stake, std::vector<Suspect> suspects) {
    Leader leader;
    leader.standing = {slow(0)};  // 4.42 s, of 3.1 s
    leader.pass(5 * kSecond);
    Verdict verdict = slow_device(7);
    verdict.at_stake_s_per_step = at_stake;
    verdict.suspects = std::move(suspects);
    leader.keep(leader.incidents.conclude(kId, {.verdict = verdict}, leader.at));
    return leader.told.at(0).incident;
  };
  const Incident little = told(0.25, {});
  EXPECT_EQ(little.state, IncidentState::inconclusive);
  EXPECT_EQ(little.against,
            std::vector<std::string>{"slow_device explains 250 ms of the 1.32 s that a step takes longer"});
  EXPECT_EQ(told(0.4, {}).state, IncidentState::verdict);
  EXPECT_EQ(told(0.25, {{.rank = 7}}).state, IncidentState::verdict);
}

TEST(Incidents, WhileFurtherRanksAreTracedNothingIsToldYet) {
  Leader leader;
  leader.standing = {slow(0)};
  leader.pass(4 * kSecond);
  leader.keep(leader.incidents.investigate(kId, {.ranks = "0-31"}, leader.at));
  leader.pass(30 * kSecond);
  leader.keep(leader.incidents.investigate(kId, {.ranks = "32-39"}, leader.at));
  leader.pass(40 * kSecond);
  EXPECT_TRUE(leader.told.empty()) << "70 s after it fired";
  leader.keep(leader.incidents.conclude(kId, {.verdict = slow_device(37)}, leader.at));
  EXPECT_EQ(leader.words(), Words{Word::verdict});
}

TEST(Incidents, FurtherCapturesDoNotPutItOffForEver) {
  Leader leader;
  leader.standing = {slow(0)};
  leader.pass(4 * kSecond);
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(leader.told.empty());
    leader.keep(leader.incidents.investigate(kId, {.ranks = "0"}, leader.at));
    leader.pass(23 * kSecond);
  }
  EXPECT_EQ(leader.words(), Words{Word::verdict});
  EXPECT_EQ(leader.state(kId), IncidentState::inconclusive);
}

TEST(Incidents, TheEndOfWhatWasToldIsToldThoughItIsSilenced) {
  Leader leader;
  leader.standing = {slow(0)};
  leader.pass(60 * kSecond);
  leader.keep(leader.incidents.silence(
      {.job = "4711", .until = leader.at + kDay, .reason = "a known fault", .by = "bob"}, leader.at));
  leader.standing.clear();
  leader.say(slow(0), false);
  leader.pass(10 * kMinute);
  EXPECT_EQ(leader.words(), (Words{Word::verdict, Word::resolved}));
}

TEST(Incidents, NumbersGoOnAfterARestart) {
  Leader leader({.cluster = "a", .host = "gpu01", .last_n = [](const std::string& key) {
                   return key == "a/4711/speed" ? 6 : 0;
                 }});
  leader.standing = {slow(0)};
  leader.pass(5 * kSecond);
  EXPECT_TRUE(leader.incidents.find("4711-speed-7"));
}

TEST(Incidents, WhatIsMendedByHandIsNotForgotten) {
  Leader leader;
  Condition fault = hot(5);
  fault.rule = "gpu_fault";
  fault.urgency = Urgency::critical;
  leader.say(fault);
  leader.pass(kHour);
  EXPECT_EQ(leader.state("4711-gpu-1"), IncidentState::verdict);
}

TEST(Incidents, WhoAcknowledgesTwiceIsHeardOnce) {
  Leader leader;
  leader.standing = {slow(0)};
  leader.pass(60 * kSecond);
  for (int i = 0; i < 3; ++i)
    leader.keep(leader.incidents.acknowledge(kId, {.by = "bob", .where = "command", .at = leader.at}));
  EXPECT_EQ(leader.words(), (Words{Word::verdict, Word::changed}));
}

TEST(Incidents, ASilenceSaysOfWhatAndWhy) {
  Leader leader;
  const auto refused = [&](Silence silence) {
    if (silence.until == 0) silence.until = leader.at + kHour;
    const auto made = leader.incidents.silence(silence, leader.at);
    return made ? std::string() : made.error().message;
  };
  EXPECT_EQ(refused({.reason = "x"}), "a silence is of a rule, a job, a host or a user");
  EXPECT_EQ(refused({.job = "1"}), "a silence has a reason");
  EXPECT_EQ(refused({.rule = "no", .reason = "x"}), "there is no rule no");
  EXPECT_EQ(refused({.job = "1", .until = leader.at + 31 * kDay, .reason = "x"}),
            "a silence ends within 30 days");
  EXPECT_EQ(refused({.job = "1", .reason = "x"}), "");
}

TEST(Incidents, AMoreUrgentConditionIsTold) {
  Leader leader;
  Condition starved;
  starved.rule = "host_starved";
  starved.family = "host";
  starved.host = "gpu01";
  starved.device = "memory";
  leader.standing = {starved};
  leader.pass(5 * kSecond);
  EXPECT_EQ(leader.words(), Words{Word::verdict});
  starved.rule = "oom_kill";
  starved.urgency = Urgency::critical;
  leader.standing.push_back(starved);
  leader.pass(2 * kSecond);
  EXPECT_EQ(leader.words(), (Words{Word::verdict, Word::changed}));
  EXPECT_EQ(leader.told[1].incident.id(), "gpu01-host-1");
  EXPECT_EQ(leader.told[1].incident.urgency, Urgency::critical);
}

TEST(Incidents, AfterARestartNothingIsOverBeforeHostsHadTheirSay) {
  Leader before;
  before.standing = {slow(0), slow(1)};
  before.pass(60 * kSecond);
  Leader after;
  after.at = before.at;
  for (const Incident& incident : before.incidents.all()) after.incidents.restore(incident, after.at);
  after.pass(4 * kMinute);
  EXPECT_EQ(after.state(kId), IncidentState::inconclusive);
  after.standing = {slow(1)};
  after.pass(20 * kMinute);
  EXPECT_EQ(after.state(kId), IncidentState::inconclusive);
  EXPECT_TRUE(after.told.empty()) << "it was told before";
  after.standing.clear();
  after.say(slow(1), false);
  after.pass(6 * kMinute);
  EXPECT_EQ(after.words(), Words{Word::resolved});
  after.standing = {slow(1)};
  after.pass(kHour);
  EXPECT_TRUE(after.incidents.find("4711-speed-1"));
}

TEST(Incidents, WhatWasBeingLookedIntoAtARestartIsAskedForOnceMore) {
  for (const bool is_under_way : {true, false}) {
    Leader before;
    before.standing = {slow(0)};
    before.pass(10 * kSecond);
    ASSERT_EQ(before.captures, 1);
    if (is_under_way) before.keep(before.incidents.investigate(kId, {.ranks = "0"}, before.at));
    Leader after;
    after.at = before.at + 15 * kSecond;
    after.standing = {slow(0)};
    for (const Incident& incident : before.incidents.all()) after.incidents.restore(incident, after.at);
    after.pass(5 * kSecond);
    EXPECT_EQ(after.captures, 0) << "its job is not seen yet";
    after.pass(10 * kSecond);
    EXPECT_EQ(after.captures, 1);
    after.keep(after.incidents.conclude(kId, {.verdict = slow_device(0)}, after.at));
    after.pass(kMinute);
    EXPECT_EQ(after.state(kId), IncidentState::verdict);
    EXPECT_EQ(after.captures, 1);
    EXPECT_EQ(after.words(), Words{Word::verdict});
  }
}

TEST(Incidents, WhatWasBeingLookedIntoLongBeforeARestartIsToldAsItIs) {
  Leader before;
  before.standing = {slow(0)};
  before.pass(10 * kSecond);
  Leader after;
  after.at = before.at + kHour;
  after.standing = {slow(0)};
  for (const Incident& incident : before.incidents.all()) after.incidents.restore(incident, after.at);
  after.pass(kMinute);
  EXPECT_EQ(after.captures, 0);
  EXPECT_EQ(after.state(kId), IncidentState::inconclusive);
}

TEST(Incidents, AHostThatSaysNothingAnyMoreHasNoConditions) {
  Leader leader;
  leader.standing = {slow(0)};
  leader.pass(60 * kSecond);
  leader.standing.clear();
  leader.pass(9 * kMinute);
  EXPECT_EQ(leader.state(kId), IncidentState::inconclusive);
  leader.pass(2 * kMinute);
  EXPECT_EQ(leader.state(kId), IncidentState::recovering);
}

TEST(Incidents, SomebodyResolvesIt) {
  Leader leader;
  leader.standing = {slow(0)};
  leader.pass(60 * kSecond);
  leader.standing.clear();
  leader.keep(leader.incidents.resolve(kId, "bob", leader.at));
  EXPECT_EQ(leader.words(), (Words{Word::verdict, Word::resolved}));
  EXPECT_FALSE(leader.incidents.resolve(kId, "bob", leader.at));
  EXPECT_FALSE(leader.incidents.resolve("4711-speed-9", "bob", leader.at));
}

TEST(Incidents, AMillionConditionsHaveABound) {
  Leader leader({.cluster = "a", .host = "n", .most = 50, .most_conditions = 1000});
  for (int i = 0; i < 100'000; ++i) {
    Condition condition = slow(i);
    condition.job = std::to_string(i % 1000);
    leader.say(condition);
  }
  EXPECT_EQ(leader.incidents.all().size(), 50u);
  EXPECT_GT(leader.incidents.left_out(), 90'000);
}

}  // namespace
}  // namespace spotter::respond
