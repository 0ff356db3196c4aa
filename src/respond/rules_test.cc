#include "respond/rules.h"

#include <gtest/gtest.h>

#include "respond/test_rules.h"

namespace spotter::respond {
namespace {

using namespace test;

Table mount(bool answers, const char* where = "/data") {
  return table_of("filesystem", {{{"mount_point", where}, {"reachable", answers}}});
}

TEST(Rules, AConditionThatComesAndGoesFlapsAndIsOneThing) {
  Machine machine;
  for (int round = 0; round < 6; ++round) {
    machine.seconds(25, [](int) { return mount(false); });
    machine.seconds(40, [](int) { return mount(true); });
  }
  i64 begun = 0;
  bool flapped = false;
  for (const Condition& change : machine.all) {
    begun += change.is_firing && !flapped;
    flapped = flapped || change.is_flapping;
  }
  EXPECT_EQ(begun, 4);  // with the fourth it flaps
  EXPECT_TRUE(flapped);
  EXPECT_EQ(machine.firing(), Names{"storage_hangs"});  // though it is well now
  machine.seconds(16 * 60, [](int) { return mount(true); });
  EXPECT_TRUE(machine.firing().empty());
}

TEST(Rules, WhatNobodyTellsOfAnyMoreIsOver) {
  Machine machine;
  machine.seconds(25, [](int) { return mount(false); });
  EXPECT_EQ(machine.firing(), Names{"storage_hangs"});
  machine.seconds(59, [](int) { return table_of("load", {{{"x", i64{1}}}}); });
  EXPECT_EQ(machine.firing(), Names{"storage_hangs"});
  machine.seconds(2, [](int) { return table_of("load", {{{"x", i64{1}}}}); });
  EXPECT_TRUE(machine.firing().empty());
}

TEST(Rules, WhatEndsWithItsJobIsNotMended) {
  for (const bool has_ended : {true, false}) {
    Machine machine;
    const Table job = table_of("job", {{{"job", "4711"}, {"user", "alice"}}});
    const Table none = table_of("job", {{{"job", "4712"}, {"user", "bob"}}});
    machine.second({job});
    for (int i = 0; i < 25; ++i) machine.second({job, mount(false)});
    ASSERT_EQ(machine.firing(), Names{"storage_hangs"});
    ASSERT_EQ(machine.all.back().job, "4711");
    for (int i = 0; i < 61; ++i) machine.second({has_ended ? none : job});
    ASSERT_TRUE(machine.firing().empty());
    EXPECT_EQ(machine.all.back().has_job_ended, has_ended);
  }
}

// A collector that hung for minutes hands on what it saw before the others went on.
TEST(Rules, WhatComesLateIsNoClockThatWasSetBack) {
  Machine machine;
  machine.seconds(25, [](int) { return mount(false); });
  const Batch late{.unix_ns = machine.at - 3 * kMinute,
                   .period_ns = kSecond,
                   .tables = {table_of("load", {{{"x", i64{1}}}})},
                   .by = "job_log"};
  EXPECT_TRUE(machine.rules_.add(late).empty());
  EXPECT_EQ(machine.firing(), Names{"storage_hangs"});
  machine.seconds(1, [](int) { return mount(false); });
  EXPECT_EQ(machine.firing(), Names{"storage_hangs"});
}

TEST(Rules, WhoCannotLookAnyMoreDoesNotSayThatItIsOver) {
  for (const bool looks : {true, false}) {
    Machine machine;
    machine.seconds(25, [](int) { return mount(false, "/data"); });
    ASSERT_EQ(machine.firing(), Names{"storage_hangs"});
    // It is mounted no more, or its collector hangs.
    machine.seconds(61, [&](int) { return looks ? mount(true, "/") : table_of("load", {{{"x", i64{1}}}}); });
    ASSERT_TRUE(machine.firing().empty());
    EXPECT_EQ(machine.all.back().is_unheard, !looks);
  }
}

TEST(Rules, AfterAPauseItHasToHoldAnew) {
  Machine machine;
  machine.seconds(15, [](int) { return mount(false); });
  machine.at += kHour;
  machine.seconds(15, [](int) { return mount(false); });
  EXPECT_TRUE(machine.all.empty());
}

TEST(Rules, AClockThatIsSetBackBlindsNobody) {
  Machine machine;
  machine.seconds(25, [](int) { return mount(false); });
  machine.at -= kDay;
  machine.seconds(1, [](int) { return mount(true); });
  EXPECT_TRUE(machine.firing().empty());
  EXPECT_TRUE(machine.all.back().is_unheard);  // not that it is over
  machine.seconds(99, [](int) { return mount(true); });
  machine.seconds(25, [](int) { return mount(false); });
  EXPECT_EQ(machine.firing(), Names{"storage_hangs"});
}

TEST(Rules, NumbersAreToldAgainNowAndThen) {
  Machine machine;
  machine.seconds(21 + 95, [](int) { return mount(false); });
  EXPECT_EQ(machine.all.size(), 4u);  // at its beginning, and every 30 s
}

TEST(Rules, WhatLastsIsSaidAgainEachHalfMinuteThoughNobodyTellsOfIt) {
  Machine machine;
  machine.seconds(25, [](int) { return mount(false); });
  ASSERT_EQ(machine.firing(), Names{"storage_hangs"});
  i64 said = 0;
  for (int i = 0; i < 60; ++i) {
    machine.at += kSecond;
    for (const Condition& again : machine.rules_.again(machine.at)) {
      ++said;
      EXPECT_EQ(again.at, machine.at);
    }
  }
  EXPECT_EQ(said, 2);
}

TEST(Rules, ThereIsAnEndToWhatIsWatched) {
  Rules rules({.host = "n1", .most = 3});
  std::vector<Cells> rows;
  std::vector<std::string> names;
  for (int i = 0; i < 10; ++i) names.push_back(fmt::format("/m{}", i));
  for (const std::string& name : names)
    rows.push_back({{"mount_point", std::string_view(name)}, {"reachable", false}});
  rules.add({.unix_ns = kDay, .tables = {table_of("filesystem", rows)}});
  rules.add({.unix_ns = kDay + 20 * kSecond, .tables = {table_of("filesystem", rows)}});
  EXPECT_EQ(rules.firing().size(), 3u);
  EXPECT_EQ(rules.left_out(), 14);
}

TEST(Rules, WhatWasLookedForAndNotFoundIsSaid) {
  Machine machine;
  machine.second({mount(true)});
  EXPECT_EQ(machine.rules_.ruled_out(machine.at),
            std::vector<std::string>{"storage: the file systems of n1 answer"});
  EXPECT_TRUE(machine.rules_.ruled_out(machine.at + kHour).empty()) << "nobody has looked since";
  machine.seconds(21, [](int) { return mount(false); });
  EXPECT_TRUE(machine.rules_.ruled_out(machine.at).empty());
}

TEST(Rules, ARuleThatIsNotWantedIsSilent) {
  Machine machine({{"storage_hangs", {{"enabled", "false"}}}});
  machine.seconds(60, [](int) { return mount(false); });
  EXPECT_TRUE(machine.all.empty());
}

TEST(Rules, SettingsAreChecked) {
  EXPECT_TRUE(
      check(RuleSettings{{"step_time_up", {{"ratio", "1.2"}, {"for", "1m"}, {"recover", "by hand"}}}}));
  const auto message = [](RuleSettings settings) {
    const auto checked = check(settings);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(message({{"step_time", {}}}), "there is no rule \"step_time\"; did you mean \"step_time_up\"?");
  EXPECT_EQ(message({{"step_time_up", {{"ratio", "0.9"}}}}), "step_time_up: ratio: \"0.9\" is not above 1");
  EXPECT_EQ(message({{"step_time_up", {{"ratio", "nan"}}}}), "step_time_up: ratio: \"nan\" is not a number");
  EXPECT_EQ(message({{"step_time_up", {{"depth", "1"}}}}), "step_time_up: it has no setting \"depth\"");
  EXPECT_EQ(message({{"gpu_fault", {{"xids", "79,x"}}}}),
            "gpu_fault: xids: \"x\" is not the number of an XID");
  EXPECT_EQ(message({{"step_time_creep", {{"window", "1s"}}}}),
            "step_time_creep: window: window: a minute to a day");
  EXPECT_EQ(message({{"storage_hangs", {{"for", "soon"}}}}).substr(0, 20), "storage_hangs: for: ");
}

// The fallbacks pass the checks that a user's words have to pass.
TEST(Rules, FallbacksAreValid) {
  for (const Rule* rule : all_rules()) {
    const Settings settings = whole_settings(*rule, {});
    const auto checked = check(*rule, settings);
    EXPECT_TRUE(checked) << rule->name << (checked ? "" : checked.error().message);
  }
}

// Signs of a rule for a table of any form: no column is where it is expected.
TEST(Rules, TablesOfOtherFormsAreReadOver) {
  Machine machine;
  for (const Rule* rule : all_rules()) {
    for (const char* name : rule->tables) {
      machine.seconds(3,
                      [&](int) { return table_of(name, {{{"job", i64{5}}, {"gpu", "x"}, {"rank", 0.5}}}); });
    }
  }
  EXPECT_TRUE(machine.all.empty());
}

}  // namespace
}  // namespace spotter::respond
