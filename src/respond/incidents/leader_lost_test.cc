// The leader of a job is lost, or there are two of them: what people are told, and what of it receivers take
// for one and the same.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "respond/incidents/test_leading.h"

namespace spotter::respond {
namespace {

constexpr const char* kId = "4711-speed-1";
using Words = std::vector<Word>;

// How often the end of each incident was told.
std::map<std::string, int> ends(const World& world) {
  std::map<std::string, int> ends;
  for (const World::Told& told : world.told)
    ends[told.change.incident.id()] += told.change.word == Word::resolved;
  return ends;
}

// Receivers know a message again by these.
void expect_each_once(const World& world) {
  std::set<std::pair<std::string, i64>> seen;
  for (const World::Told& told : world.told) {
    const Incident& incident = told.change.incident;
    EXPECT_TRUE(seen.emplace(incident.id(), incident.sequence).second)
        << incident.id() << " " << incident.sequence << " by " << world.nodes[told.host]->name;
  }
}

struct Killed {
  IncidentState state = IncidentState::pending;
  bool captures = true;
  Ns evidence_takes = 12 * kSecond;
};

void bring_to(World& world, const Killed& when) {
  world.captures = when.captures;
  world.evidence_takes = when.evidence_takes;
  world.all_slow(true);
  if (when.state == IncidentState::recovering || when.state == IncidentState::resolved) {
    ASSERT_TRUE(world.pass_until(IncidentState::verdict));
    world.all_slow(false);
  }
  ASSERT_TRUE(world.pass_until(when.state));
}

constexpr Killed kStates[] = {{IncidentState::pending},
                              {IncidentState::firing, false},
                              {IncidentState::investigating},
                              {IncidentState::verdict},
                              {IncidentState::inconclusive, true, 10 * kMinute}};
constexpr Killed kQuietStates[] = {{IncidentState::recovering}, {IncidentState::resolved}};

void expect_one_that_ends_when_it_is_back(World& world) {
  world.start(0);
  world.slow(0, true);
  world.pass(3 * kMinute);
  EXPECT_EQ(world.open(), 1u);
  EXPECT_TRUE(world.at_leader()->is_open());
  world.all_slow(false);
  world.pass(20 * kMinute);
  EXPECT_EQ(world.open(), 0u);
  EXPECT_EQ(world.words().back(), Word::resolved);
}

TEST(LeaderLost, InEachStateThatLastsTheNextGoesOnUnderItsNumber) {
  for (const Killed& when : kStates) {
    SCOPED_TRACE(state_name(when.state));
    World world(6);
    bring_to(world, when);
    const size_t before = world.told.size();
    world.kill(0);
    world.pass(2 * kMinute);
    ASSERT_GT(world.told.size(), before) << "nobody goes on with it";
    EXPECT_EQ(world.told[before].host, 1u);
    expect_one_that_ends_when_it_is_back(world);
    EXPECT_EQ(ends(world), (std::map<std::string, int>{{kId, 1}}));
    expect_each_once(world);
    EXPECT_LE(world.told.size(), 4u);
  }
}

TEST(LeaderLost, InEachStateThatLastsItsEndIsToldWithoutIt) {
  for (const Killed& when : kStates) {
    SCOPED_TRACE(state_name(when.state));
    World world(6);
    bring_to(world, when);
    world.kill(0);
    world.pass(2 * kMinute);
    world.all_slow(false);
    world.pass(20 * kMinute);
    EXPECT_EQ(world.open(), 0u);
    EXPECT_EQ(ends(world), (std::map<std::string, int>{{kId, 1}}));
    expect_each_once(world);
  }
}

TEST(LeaderLost, WhenAllIsOverItTellsTheEndOnceItIsBack) {
  for (const Killed& when : kQuietStates) {
    SCOPED_TRACE(state_name(when.state));
    World world(6);
    bring_to(world, when);
    world.kill(0);
    world.pass(2 * kMinute);
    world.start(0);
    world.pass(20 * kMinute);
    EXPECT_EQ(world.words(), (Words{Word::verdict, Word::resolved}));
    EXPECT_EQ(ends(world), (std::map<std::string, int>{{kId, 1}}));
    EXPECT_EQ(world.open(), 0u);
  }
}

TEST(LeaderLost, WhenAllIsOverTheNextTellsTheEndIfItIsNeverBack) {
  for (const size_t slow : {size_t{1}, size_t{5}}) {
    World world(6);
    world.slow(slow, true);
    world.pass(kMinute);
    ASSERT_EQ(world.words(), Words{Word::verdict});
    world.slow(slow, false);
    world.pass(10 * kSecond);
    world.kill(0);
    world.pass(4 * kMinute);
    EXPECT_EQ(world.words(), Words{Word::verdict}) << "it may fire again";
    world.pass(16 * kMinute);
    EXPECT_EQ(ends(world), (std::map<std::string, int>{{kId, 1}}));
    EXPECT_EQ(world.told.back().host, 1u);
    EXPECT_TRUE(world.told.back().change.incident.told_elsewhere) << "or its notifiers would not be told";
    EXPECT_EQ(world.told.back().change.incident.urgency, Urgency::warning);
    EXPECT_EQ(world.open(), 0u);
    expect_each_once(world);
    const size_t reports = world.reports;
    world.pass(kHour);
    EXPECT_EQ(world.reports, reports) << "nobody asks for it any more";
  }
}

TEST(LeaderLost, WithWhatItLedOverAtTheSameMomentTheNextTellsTheEnd) {
  World world(6);
  world.slow(4, true);
  world.pass(kMinute);
  world.kill(0);
  world.slow(4, false);
  world.pass(20 * kMinute);
  EXPECT_EQ(world.words(), (Words{Word::verdict, Word::resolved}));
  EXPECT_EQ(ends(world), (std::map<std::string, int>{{kId, 1}}));
  EXPECT_EQ(world.open(), 0u);
}

void have_one_that_ends(World& world) {
  world.slow(4, true);
  world.pass(kMinute);
  world.slow(4, false);
  world.pass(10 * kMinute);
  ASSERT_EQ(world.words(), (Words{Word::verdict, Word::resolved}));
}

TEST(LeaderLost, WhatHasEndedThereIsNotToldOfAgain) {
  World world(6);
  have_one_that_ends(world);
  world.kill(0);
  world.pass(kHour);
  EXPECT_EQ(world.told.size(), 2u);
}

TEST(LeaderLost, ForAMomentAloneItTellsTheEndItself) {
  for (const Ns away : {20 * kSecond, kMinute, 3 * kMinute}) {
    World world(6);
    world.slow(4, true);
    world.pass(kMinute);
    world.slow(4, false);
    world.pass(30 * kSecond);
    world.kill(0);
    world.pass(away);
    world.start(0);
    world.pass(30 * kMinute);
    EXPECT_EQ(world.words(), (Words{Word::verdict, Word::resolved})) << away / kSecond;
    EXPECT_EQ(world.told.back().host, 0u) << away / kSecond;
    EXPECT_EQ(world.open(), 0u) << away / kSecond;
  }
}

TEST(LeaderLost, ThatMayHaveWhatIsSlowItselfIsNotTakenToBeOver) {
  World world(6);
  world.slow(0, true);
  world.slow(1, true);
  world.pass(kMinute);
  ASSERT_EQ(world.words(), Words{Word::verdict});
  world.slow(1, false);
  world.pass(40 * kSecond);
  world.kill(0);
  world.pass(7 * kMinute);
  world.start(0);
  world.slow(0, true);
  world.pass(10 * kMinute);
  EXPECT_EQ(world.words(), Words{Word::verdict});
  EXPECT_EQ(world.open(), 1u);
}

TEST(LeaderLost, WhatHasANumberOfAnEarlierDayIsEndedAllTheSame) {
  World world(6);
  have_one_that_ends(world);
  world.kill(0);
  for (size_t i = 1; i < world.nodes.size(); ++i) {  // they know nothing of it any more
    world.kill(i);
    world.start(i);
  }
  world.pass(2 * kHour);
  world.slow(4, true);
  world.pass(kMinute);
  ASSERT_EQ(world.told.size(), 3u);
  EXPECT_EQ(world.told[2].change.incident.id(), kId) << "its number again";
  world.slow(4, false);
  world.pass(30 * kSecond);
  world.start(0);
  world.pass(30 * kMinute);
  EXPECT_EQ(world.words().back(), Word::resolved);
  EXPECT_GE(ends(world)[kId], 2);
  EXPECT_EQ(world.open(), 0u);
}

// Who stands in asks for it each half a minute: what receivers hear twice then is of one number.
TEST(LeaderLost, BackWhenTheNextTellsTheEndNothingBeginsAgain) {
  for (const Ns away : {5 * kMinute, 6 * kMinute, 7 * kMinute, 9 * kMinute}) {
    World world(6);
    world.slow(4, true);
    world.pass(kMinute);
    world.slow(4, false);
    world.pass(30 * kSecond);
    world.kill(0);
    world.pass(away);
    world.start(0);
    world.pass(30 * kMinute);
    EXPECT_EQ(world.open(), 0u) << away / kSecond;
    ASSERT_LE(world.told.size(), 3u) << away / kSecond;
    for (size_t i = 1; i < world.told.size(); ++i) EXPECT_EQ(world.told[i].change.word, Word::resolved);
    EXPECT_EQ(ends(world).size(), 1u) << away / kSecond;
  }
}

TEST(LeaderLost, WhatFiresAgainMeanwhileIsTheSame) {
  for (const Killed& when : kQuietStates) {
    SCOPED_TRACE(state_name(when.state));
    World world(6);
    bring_to(world, when);
    world.kill(0);
    world.pass(kMinute);
    const size_t before = world.told.size();
    world.all_slow(true);
    world.pass(2 * kMinute);
    EXPECT_EQ(world.told.size(), before + 1);
    EXPECT_EQ(world.told.back().host, 1u);
    expect_one_that_ends_when_it_is_back(world);
    EXPECT_EQ(ends(world).size(), 1u) << "one number";
    expect_each_once(world);
    EXPECT_LE(world.told.size(), 6u);
  }
}

Result<Incidents::Changes> silence_it(Incidents& incidents, Ns at) {
  return incidents.silence(
      {.rule = "step_time_up", .job = "4711", .until = at + kHour, .reason = "planned", .by = "bob"}, at);
}

TEST(LeaderLost, WhatWasSilencedThereIsSoWithTheNext) {
  World world(6);
  world.all_slow(true);
  world.pass(5 * kSecond);
  world.act(0, silence_it);
  world.pass(kMinute);
  world.kill(0);
  world.pass(5 * kMinute);
  EXPECT_EQ(world.open(), 1u) << "it is shown";
  world.kill(1);
  world.pass(5 * kMinute);
  EXPECT_EQ(world.open(), 1u);
  EXPECT_TRUE(world.told.empty()) << "who came next has handed it on";
  world.pass(kHour);
  EXPECT_EQ(world.words(), Words{Word::verdict}) << "when the silence is over";
  EXPECT_EQ(world.told[0].host, 2u);
}

TEST(LeaderLost, WhatWasSilencedMeanwhileIsSoWithTheLeaderThatIsBack) {
  World world(6);
  world.kill(0);
  world.all_slow(true);
  world.pass(12 * kSecond);
  ASSERT_TRUE(world.told.empty());
  ASSERT_EQ(world.open(), 1u);
  world.act(1, silence_it);
  world.start(0);
  world.nodes[0]->clock_ahead = kMinute;
  world.pass(40 * kSecond);
  world.slow(0, true);
  world.pass(10 * kMinute);
  EXPECT_EQ(world.open(), 1u);
  EXPECT_TRUE(world.at_leader()->is_open());
  EXPECT_TRUE(world.told.empty());
  world.pass(kHour);
  EXPECT_EQ(world.words(), Words{Word::verdict}) << "when the silence is over";
}

TEST(LeaderLost, WhatALeaderSaysIsSilencedHasAnEnd) {
  Incidents incidents({.cluster = "a", .host = "gpu02"});
  const Ns for_ever = (i64{1} << 42) * kMillisecond;
  incidents.learn("4711", {{.key = "a/4711/speed", .n = 1, .is_open = true, .silenced = for_ever}}, kBegin);
  incidents.take({.rule = "step_time_up", .family = "speed", .job = "4711", .since = kBegin, .at = kBegin},
                 kBegin + kSecond);
  EXPECT_EQ(incidents.find(kId)->silenced_until, kBegin + Silences::kLongest);
}

TEST(LeaderLost, WhatWasAcknowledgedIsToldNoMoreAgainAndAgain) {
  for (const bool is_acknowledged : {true, false}) {
    World world(3, 20 * kMinute);
    world.all_slow(true);
    world.pass(kMinute);
    if (is_acknowledged)
      world.act(0, [](Incidents& incidents, Ns at) {
        return incidents.acknowledge(kId, {.by = "bob", .where = "command", .at = at});
      });
    world.pass(kMinute);
    world.kill(0);
    world.pass(5 * kMinute);
    ASSERT_EQ(world.told.back().host, 1u);
    EXPECT_EQ(world.told.back().change.incident.acknowledged.has_value(), is_acknowledged);
    const size_t before = world.told.size();
    world.pass(20 * kMinute);
    EXPECT_EQ(world.told.size(), before + (is_acknowledged ? 0 : 1));
  }
}

TEST(TwoLeaders, AreOneIncidentToWhoReceivesIt) {
  World world(8);
  world.is_parted = true;
  world.all_slow(true);
  world.pass(2 * kMinute);
  std::set<size_t> tell;
  for (const World::Told& told : world.told) tell.insert(told.host);
  EXPECT_GE(tell.size(), 2u) << "whoever reaches no leader tells as well";
  world.is_parted = false;
  world.pass(2 * kMinute);
  EXPECT_EQ(ends(world), (std::map<std::string, int>{{kId, 0}})) << "it goes on";
  const size_t before = world.told.size();
  world.all_slow(false);
  world.pass(20 * kMinute);
  EXPECT_EQ(world.told.size(), before + 1);
  EXPECT_EQ(world.told.back().host, 0u);
  EXPECT_EQ(ends(world), (std::map<std::string, int>{{kId, 1}}));
  expect_each_once(world);
}

TEST(TwoLeaders, WhereTheyHaveCountedOnByThemselvesEachNumberEndsOnce) {
  World world(8);
  world.nodes[5]->last_n = 3;
  world.is_parted = true;
  world.all_slow(true);
  world.pass(2 * kMinute);
  EXPECT_EQ(ends(world), (std::map<std::string, int>{{kId, 0}, {"4711-speed-4", 0}}));
  world.is_parted = false;
  world.pass(2 * kMinute);
  EXPECT_EQ(world.open(), 1u);
  EXPECT_EQ(ends(world), (std::map<std::string, int>{{kId, 0}, {"4711-speed-4", 1}})) << "the leader's stays";
  world.all_slow(false);
  world.pass(20 * kMinute);
  EXPECT_EQ(ends(world), (std::map<std::string, int>{{kId, 1}, {"4711-speed-4", 1}}));
  expect_each_once(world);
}

}  // namespace
}  // namespace spotter::respond
