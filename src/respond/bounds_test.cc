// What processes and hosts make up has no end, and memory does.
#include <gtest/gtest.h>
#include <malloc.h>

#include <functional>

#include "respond/incidents/incidents.h"
#include "respond/incidents/relay.h"
#include "respond/rules/ras_rows.h"
#include "respond/steps/job_pace.h"
#include "respond/test_rules.h"

namespace spotter::respond {
namespace {

using namespace test;

constexpr Ns kBegin = 1'795'000'000 * kSecond;

size_t in_use() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

// After `few` rounds all that is kept is there; what comes with the others costs nothing.
void expect_bounded(int few, int all, const std::function<void(int)>& round) {
  if (in_use() == 0) GTEST_SKIP() << "the allocator of a sanitizer does not tell";
  size_t before = 0;
  for (int i = 0; i < all; ++i) {
    if (i == few) before = in_use();
    round(i);
  }
  EXPECT_LE(in_use(), before + 128 * 1024);
}

std::string made_up(i64 i) { return fmt::format("job-{:07}", i); }

Condition slow(i64 i, i64 jobs) {
  return {.rule = "step_time_up",
          .family = "speed",
          .job = made_up(i % jobs),
          .user = "mallory",
          .host = "gpu01",
          .rank = i,
          .since = kBegin,
          .at = kBegin};
}

TEST(Bounds, AMillionConditions) {
  Incidents incidents({.cluster = "a", .host = "gpu01", .most = 4, .most_conditions = 10'000});
  expect_bounded(100, 1000, [&](int round) {
    const Ns at = kBegin + round * kMillisecond;
    for (i64 i = 0; i < 1000; ++i) incidents.take(slow(round * 1000 + i, 8), at);
    if (round % 100 == 99) incidents.pass(at);
  });
  if (testing::Test::IsSkipped()) return;
  EXPECT_EQ(incidents.all().size(), 4u);
  EXPECT_GE(incidents.left_out(), 990'000);
}

TEST(Bounds, JobsWhoseConditionsAreOverAtOnce) {
  Incidents incidents({.cluster = "a", .host = "gpu01"});
  expect_bounded(1000, 10'000, [&](int round) {
    for (i64 i = 0; i < 5; ++i) {
      Condition condition = slow(round * 5 + i, 1'000'000);
      incidents.take(condition, kBegin);
      condition.is_firing = false;
      incidents.take(condition, kBegin);
    }
    incidents.pass(kBegin);
  });
  if (testing::Test::IsSkipped()) return;
  EXPECT_TRUE(incidents.all().empty());
}

TEST(Bounds, ConditionsForALeaderThatDoesNotAnswer) {
  Relay relay;
  const Leaders leaders{.hosts = {"gpu02"}, .own = 1};
  expect_bounded(10, 50, [&](int round) {
    for (i64 i = 0; i < 5000; ++i) relay.put(slow(round * 5000 + i, 1'000'000), leaders, kBegin);
    relay.pass(kBegin);
  });
  if (testing::Test::IsSkipped()) return;
  EXPECT_GT(relay.left_out(), 200'000);
}

// A thousand ranks that nobody has seen before: of jobs of their own, or all of one.
Table steps(int round, bool are_of_one) {
  static constexpr Field kColumns[] = {{"job", Type::text, Unit::none, Role::value, ""},
                                       {"rank", Type::integer, Unit::none, Role::value, ""},
                                       {"step_ns", Type::integer, Unit::none, Role::value, ""},
                                       {"step_age_ns", Type::integer, Unit::none, Role::value, ""},
                                       {"steps", Type::integer, Unit::none, Role::value, ""}};
  Table table("step", kColumns);
  for (i64 i = 0; i < 1000; ++i) {
    const i64 number = round * 1000 + i;
    const std::string job = are_of_one ? "4711" : made_up(number);
    table.append({std::string_view(job), number, kSecond, i64{0}, i64{100}});
  }
  return table;
}

// They come with others of each job, so that it goes on.
Table jobs(int round, bool are_of_one) {
  static constexpr Field kColumns[] = {{"job", Type::text, Unit::none, Role::value, ""},
                                       {"rank", Type::integer, Unit::none, Role::value, ""},
                                       {"world_size", Type::integer, Unit::none, Role::value, ""}};
  Table table("job", kColumns);
  table.append({"4711", i64{0}, i64{1000}});
  for (i64 i = 0; i < 1000; ++i) {
    const i64 number = 1 + round * 1000 + i;
    const std::string job = are_of_one ? "4711" : made_up(number);
    table.append({std::string_view(job), number, i64{1000}});
  }
  return table;
}

Table lines(int round) {
  std::vector<std::string> names;
  for (i64 i = 0; i < 1000; ++i) names.push_back(made_up(round * 1000 + i));
  std::vector<Cells> rows;
  for (const std::string& name : names)
    rows.push_back({{"job", std::string_view(name)},
                    {"kind", "collective_timeout"},
                    {"text", "ran for 600019 milliseconds"},
                    {"file", "/x"}});
  return table_of("log_event", rows);
}

Table answers(int round) {
  Table table("nccl_ras", ras_columns());
  for (i64 i = 0; i < 1000; ++i)
    append(table, {.job = made_up(round * 1000 + i), .communicator = "c", .operation = "AllReduce"});
  return table;
}

void expect_rules_bounded(const std::function<Table(int)>& table) {
  Rules rules({.host = "gpu01"});
  expect_bounded(15, 40, [&](int round) {
    const Ns at = kBegin + round * kSecond;
    rules.add({.unix_ns = at, .period_ns = kSecond, .tables = {table(round)}});
    rules.pass(at);
  });
}

TEST(Bounds, RulesOfSteps) {
  expect_rules_bounded([](int round) { return steps(round, false); });
}

TEST(Bounds, RulesOfTheRanksOfAJob) {
  expect_rules_bounded([](int round) { return jobs(round, true); });
}

TEST(Bounds, RulesOfLines) { expect_rules_bounded(lines); }

TEST(Bounds, RulesOfAnswersOfNccl) { expect_rules_bounded(answers); }

TEST(Bounds, PacesOfJobs) {
  for (const bool are_of_one : {true, false}) {
    JobPaces paces;
    expect_bounded(10, 40, [&](int round) {
      const Ns at = kBegin + round * kSecond;
      const Table of_steps = steps(round, are_of_one), of_jobs = jobs(round, are_of_one);
      paces.see({.table = of_jobs, .at = at});
      paces.see({.table = of_steps, .at = at});
    });
  }
}

TEST(Bounds, AJobThatIsThereKeepsItsPaceBesideThem) {
  JobPaces paces;
  for (int round = 0; round < 5; ++round) {
    const Ns at = kBegin + round * kSecond;
    const Table of_one = jobs(round, true), of_others = steps(round, false);
    paces.see({.table = of_one, .at = at});
    paces.see({.table = of_others, .at = at});
  }
  EXPECT_TRUE(paces.of("4711"));
  EXPECT_FALSE(paces.of(made_up(4999)));
  EXPECT_GT(paces.left_out(), 4000);
}

}  // namespace
}  // namespace spotter::respond
