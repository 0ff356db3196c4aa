// Many hosts of one job, the network between them made up: who leads, and what people are told.
#include <gtest/gtest.h>

#include <set>

#include "respond/incidents/test_leading.h"

namespace spotter::respond {
namespace {

TEST(Leading, AThousandHostsAreOneIncidentAndOneMessage) {
  World world(1000);
  // Within two seconds, as a synchronous job is slow everywhere.
  for (size_t i = 0; i < world.nodes.size(); ++i) {
    if (i % 500 == 499) world.pass(kSecond);
    world.slow(i, true);
  }
  world.pass(kMinute);
  ASSERT_EQ(world.words(), std::vector{Word::verdict});
  EXPECT_EQ(world.told[0].host, 0u);
  EXPECT_LE(world.told[0].at - kBegin, 20 * kSecond);
  EXPECT_EQ(world.nodes[0]->incidents->all().at(0).symptom.hosts, 1000);
  EXPECT_EQ(world.open(), 1u);
  EXPECT_LE(world.reports, 1000u * 4);
  world.all_slow(false);
  world.pass(10 * kMinute);
  EXPECT_EQ(world.words(), (std::vector{Word::verdict, Word::resolved}));
  EXPECT_EQ(world.open(), 0u);
}

TEST(Leading, WhereTheLeaderIsNotThereTheNextTellsAndHandsOver) {
  World world(8);
  world.kill(0);
  world.all_slow(true);
  world.pass(kMinute);
  ASSERT_EQ(world.words(), std::vector{Word::verdict});
  EXPECT_EQ(world.told[0].host, 1u);
  world.start(0);
  world.slow(0, true);
  world.pass(2 * kMinute);
  EXPECT_EQ(world.open(), 1u);
  const auto incidents = world.nodes[0]->incidents->all();
  ASSERT_FALSE(incidents.empty());
  EXPECT_TRUE(incidents[0].is_open());
  EXPECT_EQ(incidents[0].id(), "4711-speed-1");
  EXPECT_EQ(incidents[0].verdict->cause, "slow_device");
  world.all_slow(false);
  world.pass(12 * kMinute);
  EXPECT_EQ(world.open(), 0u);
  EXPECT_EQ(world.words().back(), Word::resolved);
  for (const World::Told& told : world.told) EXPECT_EQ(told.change.incident.id(), "4711-speed-1");
}

// Who stood in repeats it no more to those who forget what nobody repeats.
TEST(Leading, WhatIsHandedOverAndWasToldIsRepeatedByWhoHasItNow) {
  World world(8);
  world.kill(0);
  world.slow(1, true);
  world.pass(kMinute);
  ASSERT_EQ(world.words(), std::vector{Word::verdict});
  world.start(0);
  world.pass(2 * kMinute);
  ASSERT_EQ(world.renewed.size(), 1u);
  EXPECT_EQ(world.renewed[0].host, 0u);
  EXPECT_EQ(world.renewed[0].change.incident.id(), world.told[0].change.incident.id());
  EXPECT_EQ(world.words().size(), 1u);
}

TEST(Leading, KilledAtAnySecondItIsToldAndItsEndIsToldUnderOneNumber) {
  for (Ns second = 1; second <= 75; second += 2) {
    SCOPED_TRACE(second);
    World world(6);
    world.all_slow(true);
    world.pass(second * kSecond);
    world.kill(0);
    world.pass(2 * kMinute);
    ASSERT_FALSE(world.told.empty());
    world.start(0);
    world.slow(0, true);
    world.pass(3 * kMinute);
    EXPECT_EQ(world.open(), 1u);
    world.all_slow(false);
    world.pass(20 * kMinute);
    EXPECT_EQ(world.open(), 0u);
    EXPECT_EQ(world.words().back(), Word::resolved);
    std::set<i64> sequences;
    for (const World::Told& told : world.told) {
      EXPECT_EQ(told.change.incident.id(), "4711-speed-1");
      // Receivers know a message again by it.
      EXPECT_TRUE(sequences.insert(told.change.incident.sequence).second);
    }
    EXPECT_LE(world.told.size(), 4u);
  }
}

TEST(Leading, TwoThatLeadBecomeOne) {
  World world(8);
  world.is_parted = true;
  world.all_slow(true);
  world.pass(2 * kMinute);
  EXPECT_GE(world.open(), 2u);
  world.is_parted = false;
  world.pass(2 * kMinute);
  EXPECT_EQ(world.open(), 1u);
  EXPECT_EQ(world.nodes[0]->incidents->all().at(0).symptom.hosts, 8);
  world.all_slow(false);
  world.pass(20 * kMinute);
  EXPECT_EQ(world.open(), 0u);
  EXPECT_EQ(world.words().back(), Word::resolved);
}

TEST(Leading, WhereNobodyAnswersEachTells) {
  World world(8);
  for (size_t i = 0; i < 3; ++i) world.kill(i);
  world.all_slow(true);
  world.pass(kMinute);
  EXPECT_EQ(world.told.size(), 5u);
  for (const World::Told& told : world.told) EXPECT_LE(told.at - kBegin, 35 * kSecond);
  for (size_t i = 0; i < 3; ++i) world.start(i);
  world.pass(2 * kMinute);
  EXPECT_EQ(world.open(), 1u);
}

TEST(Leading, ClocksThatAreAMinuteApartChangeNothing) {
  World world(6);
  world.nodes[1]->clock_ahead = kMinute;
  world.nodes[2]->clock_ahead = -kMinute;
  world.all_slow(true);
  world.pass(kMinute);
  ASSERT_EQ(world.words(), std::vector{Word::verdict});
  const Incident incident = world.nodes[0]->incidents->all().at(0);
  EXPECT_EQ(incident.condition_count, 6);
  EXPECT_GE(incident.symptom.since, kBegin);
  world.all_slow(false);
  world.pass(10 * kMinute);
  EXPECT_EQ(world.words(), (std::vector{Word::verdict, Word::resolved}));
}

TEST(Leading, WhoTellsOftenReturnsToTheLeaderAsWell) {
  World world(6);
  world.told_each = 5 * kSecond;
  world.kill(0);
  world.all_slow(true);
  world.pass(kMinute);
  world.start(0);
  world.slow(0, true);
  world.pass(5 * kMinute);
  EXPECT_EQ(world.open(), 1u);
  EXPECT_EQ(world.nodes[0]->incidents->all().at(0).symptom.hosts, 6);
  EXPECT_LE(world.told.size(), 2u);
}

TEST(Leading, WhatIsLookedIntoIsToldByWhoHasBegunIt) {
  for (Ns back = 6; back < 24; back += 2) {
    SCOPED_TRACE(back);
    World world(4);
    world.finds = 1;
    world.evidence_takes = 30 * kSecond;  // it is asked again before that
    world.kill(0);
    world.all_slow(true);
    world.pass(back * kSecond);
    world.start(0);
    world.slow(0, true);
    world.pass(3 * kMinute);
    ASSERT_EQ(world.open(), 1u);
    const Incident incident = world.nodes[0]->incidents->all().at(0);
    ASSERT_TRUE(incident.verdict);
    EXPECT_EQ(incident.verdict->cause, "slow_device");
  }
}

TEST(Leading, LongAfterAHandoverItHasStillTheSameNumber) {
  World world(4);
  world.kill(0);
  world.all_slow(true);
  world.pass(kMinute);
  world.start(0);
  world.slow(0, true);
  world.pass(40 * kMinute);
  world.kill(0);
  world.pass(3 * kMinute);
  for (const World::Told& told : world.told) EXPECT_EQ(told.change.incident.id(), "4711-speed-1");
  EXPECT_EQ(world.open(), 1u);
}

TEST(Leading, TwoThatTakeEachOtherForTheLeaderAreQuiet) {
  World world(2);
  world.are_crossed = true;
  world.all_slow(true);
  world.pass(20 * kMinute);
  EXPECT_LE(world.told.size(), 3u);
  for (const World::Told& told : world.told) EXPECT_EQ(told.change.incident.id(), "4711-speed-1");
}

TEST(Leading, WhatIsMendedIsSoByTheClockOfWhoTells) {
  Incidents incidents({.cluster = "a", .host = "gpu01"});
  const auto told = [](Ns sent, Ns since) {
    Condition fault{.rule = "gpu_fault",
                    .family = "gpu",
                    .urgency = Urgency::critical,
                    .job = "4711",
                    .device = "gpu 5",
                    .since = since,
                    .at = sent};
    return Report{.host = "gpu02", .sent = sent, .job = {.id = "4711"}, .conditions = {fault}};
  };
  constexpr Ns kBehind = 5 * kMinute;  // that host's clock
  incidents.receive(told(kBegin - kBehind, kBegin - kBehind), kBegin);
  incidents.pass(kBegin + 5 * kSecond);
  ASSERT_TRUE(incidents.resolve("4711-gpu-1", "bob", kBegin + kMinute));
  std::vector<u64> mended;
  const Ns later = kBegin + 2 * kMinute;
  incidents.receive(told(later - kBehind, kBegin - kBehind), later, &mended);
  EXPECT_EQ(mended.size(), 1u);
  EXPECT_FALSE(incidents.is_open("4711"));
  mended.clear();
  const Ns again = kBegin + 3 * kMinute;  // another fault of that GPU
  incidents.receive(told(again - kBehind, again - kBehind), again, &mended);
  EXPECT_TRUE(mended.empty());
  EXPECT_TRUE(incidents.is_open("4711"));
}

TEST(Leading, WhereItsReportIsIsHandedOverWithTheIncidentOfThatName) {
  Incident theirs{.cluster = "a", .family = "speed", .n = 1, .led_by = "gpu02"};
  theirs.job.id = "4711";
  theirs.state = IncidentState::verdict;
  theirs.opened = theirs.updated = kBegin;
  theirs.report = ReportOfIncident{"gpu02", 1000};
  const Report report{.host = "gpu02", .sent = kBegin, .job = {.id = "4711"}, .incidents = {theirs}};
  const Condition slow{
      .rule = "step_time_up", .family = "speed", .job = "4711", .since = kBegin, .at = kBegin};
  const auto report_of = [](const Incidents& incidents, const std::string& id) {
    const auto found = incidents.find(id);
    EXPECT_TRUE(found) << id;
    return found && found->report ? found->report->host : "none";
  };
  const IncidentsOptions options{.cluster = "a", .host = "gpu01"};
  Incidents without(options);
  without.receive(report, kBegin);
  EXPECT_EQ(report_of(without, "4711-speed-1"), "gpu02");

  Incidents with_own(options);
  with_own.take(slow, kBegin);
  with_own.receive(report, kBegin);
  EXPECT_EQ(report_of(with_own, "4711-speed-1"), "gpu02");
  ASSERT_TRUE(
      with_own.amend("4711-speed-1", [](Incident& incident) { incident.report->host = "gpu01"; }, kBegin));
  with_own.receive(report, kBegin);
  EXPECT_EQ(report_of(with_own, "4711-speed-1"), "gpu01");

  // Both have counted on by themselves: there the report is another incident's.
  IncidentsOptions counted = options;
  counted.last_n = [](const std::string&) { return 3; };
  Incidents later(counted);
  later.receive(report, kBegin);
  EXPECT_EQ(report_of(later, "4711-speed-4"), "none");
  Incidents later_with_own(counted);
  later_with_own.take(slow, kBegin);
  later_with_own.receive(report, kBegin);
  EXPECT_EQ(report_of(later_with_own, "4711-speed-4"), "none");
}

// Who should lead counts the same incident from 0: of one number receivers take one message.
TEST(Leading, WhoStandsInNumbersWhatOthersTellItAsItsOwn) {
  const Condition stuck{
      .rule = "progress_stopped", .family = "progress", .job = "4711", .since = kBegin, .at = kBegin};
  const Report report{.host = "gpu03", .sent = kBegin, .job = {.id = "4711"}, .conditions = {stuck}};
  const auto sequence_at = [&](bool stands_in) {
    Incidents incidents({.cluster = "a", .host = "gpu02"});
    incidents.receive(report, kBegin, nullptr, stands_in);
    const auto found = incidents.find("4711-progress-1");
    return found ? found->sequence : -1;
  };
  EXPECT_LT(sequence_at(false), 1000);
  EXPECT_GE(sequence_at(true), 1000);
}

TEST(Leading, WhatIsMadeUpIsLimited) {
  Incidents incidents({.cluster = "a", .host = "gpu01", .most = 10});
  Report report{.host = "gpu02", .sent = kBegin, .job = {.id = "4711"}};
  for (int i = 0; i < 100; ++i) {
    Incident incident{.cluster = "a", .family = i < 90 ? fmt::format("made-up-{}", i) : "gpu", .n = i};
    incident.job.id = "4711";
    incident.state = IncidentState::verdict;
    report.incidents.push_back(incident);
  }
  incidents.receive(report, kBegin);
  EXPECT_EQ(incidents.all().size(), 1u);  // of the family that there is
}

TEST(Relay, WhatAJobSharesIsToldToItsLeaderThoughTheConditionIsKnownThere) {
  Relay relay;
  const Leaders leaders{.hosts = {"gpu01", "gpu05"}, .own = 1};
  Condition condition{
      .rule = "step_time_up", .family = "speed", .job = "4711", .host = "gpu05", .at = kBegin};
  relay.put(condition, leaders, kBegin);
  for (const Relay::Errand& errand : relay.pass(kBegin)) relay.answered(errand, true, kBegin);
  EXPECT_TRUE(relay.pass(kBegin + kSecond).empty());
  condition.shared_incident = "gpu05-speed-1-shared";
  relay.put(condition, leaders, kBegin + kSecond);
  const std::vector<Relay::Errand> errands = relay.pass(kBegin + kSecond);
  ASSERT_EQ(errands.size(), 1u);
  EXPECT_EQ(errands[0].conditions.at(0).shared_incident, "gpu05-speed-1-shared");
}

TEST(Relay, WhereTheClockIsSetBackNothingWaitsForIt) {
  Relay relay;
  const Leaders leaders{.hosts = {"gpu01", "gpu05"}, .own = 1};
  relay.put({.rule = "step_time_up", .family = "speed", .job = "4711", .host = "gpu05", .at = kBegin},
            leaders, kBegin);
  for (const Relay::Errand& errand : relay.pass(kBegin)) relay.answered(errand, false, kBegin);
  EXPECT_TRUE(relay.pass(kBegin).empty()) << "a second has to pass";
  EXPECT_EQ(relay.pass(kBegin - kHour).size(), 1u);
}

TEST(Relay, WhoHasRanksOfAJobIsKnownToItsLeaderThoughNothingBeWrong) {
  Relay relay;
  Ns at = 1'795'000'000 * kSecond;
  const Leaders leaders{.hosts = {"n1", "n2", "n3"}, .own = 2};
  EXPECT_TRUE(relay.pass(at).empty());
  relay.introduce("4711", leaders);
  auto errands = relay.pass(at);
  ASSERT_EQ(errands.size(), 1u);
  EXPECT_EQ(errands[0].to, "n1");
  EXPECT_TRUE(errands[0].is_introduction && errands[0].conditions.empty());
  relay.answered(errands[0], true, at);
  EXPECT_TRUE(relay.pass(at += kMinute).empty());
  EXPECT_FALSE(relay.has("4711"));

  // A leader that is not there yet is not passed over for it: what is wrong later is told to it first.
  relay.introduce("4711", leaders);
  for (int i = 0; i < 30; ++i) {
    for (const Relay::Errand& errand : relay.pass(at += kSecond)) relay.answered(errand, false, at);
  }
  Condition condition{.rule = "step_time_up", .family = "speed", .job = "4711", .host = "n3", .rank = 2};
  condition.at = at;
  relay.put(condition, leaders, at);
  errands = relay.pass(at);
  ASSERT_EQ(errands.size(), 1u);
  EXPECT_EQ(errands[0].to, "n1");
  EXPECT_FALSE(errands[0].is_introduction);
  // Who leads it in the end is not to be told so by itself, and nothing is kept of that.
  relay.answered(errands[0], false, at);
  for (int i = 0; i < 30; ++i) {
    for (const Relay::Errand& errand : relay.pass(at += kSecond)) relay.answered(errand, false, at);
  }
  condition.is_firing = false;
  condition.at = at;
  relay.put(condition, leaders, at);
  EXPECT_FALSE(relay.own().empty());
  relay.introduce("4711", leaders);
  relay.pass(at += kSecond);
  EXPECT_FALSE(relay.has("4711"));
}

TEST(Relay, JobsWhoseLeadersHangKeepNoOthersFromTheirs) {
  Relay relay;
  const Leaders leaders{.hosts = {"x"}, .own = 1};
  Ns at = kBegin;
  for (int i = 0; i < 100; ++i)
    relay.put({.rule = "step_time_up", .job = fmt::format("j{:03}", i), .at = at}, leaders, at);
  std::set<std::string> asked;
  for (int round = 0; round < 4; ++round) {
    const auto errands = relay.pass(at);
    EXPECT_LE(errands.size(), Relay::kMostErrands);
    at += 4 * kSecond;
    for (const Relay::Errand& errand : errands) {
      asked.insert(errand.job);
      relay.answered(errand, false, at);
    }
    at += Relay::kAgain;
  }
  EXPECT_EQ(asked.size(), 100u);
}

}  // namespace
}  // namespace spotter::respond
