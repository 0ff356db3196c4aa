// collective_stuck and log_error: what logs and NCCL say of a job that does not go on.
#include <gtest/gtest.h>

#include "respond/rules/ras_rows.h"
#include "respond/test_rules.h"

namespace spotter::respond {
namespace {

using namespace test;

Table line(const char* kind, const std::string& text, Value rank = Value()) {
  return table_of("log_event", {{{"job", "4711"},
                                 {"user", "alice"},
                                 {"kind", kind},
                                 {"rank", std::holds_alternative<i64>(rank) ? rank : Value(i64{0})},
                                 {"text", std::string_view(text)}}});
}
Table job(const char* name = "4711") { return table_of("job", {{{"job", name}, {"rank", i64{0}}}}); }
Table step(Ns age) {
  return table_of("step", {{{"job", "4711"}, {"rank", i64{0}}, {"step_age_ns", age}, {"steps", i64{7}}}});
}
Table answer(const std::vector<RasRow>& rows) {
  Table table("nccl_ras", ras_columns());
  append(table, {.job = "4711"});
  for (const RasRow& row : rows) append(table, row);
  return table;
}
RasRow behind(i64 rank, const char* counts) {
  return {.job = "4711",
          .communicator = "27a0",
          .operation = "AllReduce",
          .rank = rank,
          .launched = 4,
          .most = 5,
          .ranks = 1,
          .counts = counts};
}

constexpr const char* kWatchdog =
    "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, "
    "NumelIn=1, Timeout(ms)=600000) ran for 600019 milliseconds before timing out.";

TEST(CollectiveStuck, WhatTheWatchdogSaysFiresAtOnceAndLastsUntilAStep) {
  Machine machine;
  machine.second({line("collective_timeout", kWatchdog, i64{3})});
  ASSERT_EQ(machine.firing(), Names{"collective_stuck"});
  EXPECT_EQ(machine.all[0].rank, 3);
  EXPECT_EQ(machine.all[0].value, 600.019);
  machine.seconds(200, [](int i) { return i % 2 ? job() : step((i + 2) * kSecond); });
  EXPECT_EQ(machine.firing(), Names{"collective_stuck"}) << "it goes on";
  machine.second({step(0)});
  EXPECT_TRUE(machine.firing().empty());
}

TEST(CollectiveStuck, AJobThatEndsSinceItHasGivenUpIsTold) {
  Machine machine;
  machine.second({job(), line("collective_timeout", kWatchdog, i64{3})});
  machine.seconds(30, [](int) { return job("other"); });
  EXPECT_EQ(machine.firing(), Names{"collective_stuck"});
  machine.seconds(40, [](int) { return job("other"); });
  EXPECT_TRUE(machine.firing().empty());
}

TEST(CollectiveStuck, NcclHasToSayTheSameTwice) {
  Machine machine;
  machine.second({answer({behind(2, "4:1 5:3")})});
  machine.at += 10 * kSecond;
  machine.second({answer({behind(2, "5:1 6:3")})});  // it is merely behind
  EXPECT_TRUE(machine.all.empty());
  machine.second({answer({behind(2, "5:1 6:3")})});  // too soon
  EXPECT_TRUE(machine.all.empty());
  machine.at += kMinute;
  machine.second({answer({behind(2, "5:1 6:3")})});
  ASSERT_EQ(machine.firing(), Names{"collective_stuck"});
  EXPECT_EQ(machine.all[0].rank, 2);
  EXPECT_EQ(machine.all[0].device, "AllReduce 5");
  EXPECT_EQ(machine.all[0].since, machine.at - kMinute - 2 * kSecond);
  machine.second({answer({})});
  EXPECT_TRUE(machine.firing().empty());
}

TEST(CollectiveStuck, AMissingRankOfAnotherHost) {
  Machine machine;
  const RasRow missing{.job = "4711",
                       .communicator = "27a0",
                       .rank = 9,
                       .host = "10.0.0.2",
                       .ranks = 1,
                       .counts = "missing 9"};
  for (int i = 0; i < 2; ++i) {
    machine.second({answer({missing})});
    machine.at += kMinute;
  }
  ASSERT_EQ(machine.firing(), Names{"collective_stuck"});
  EXPECT_EQ(machine.all[0].host, "10.0.0.2");
}

TEST(LogError, EachKindIsAConditionAndItsTextIsShortAndPrintable) {
  Machine machine;
  machine.second({line("cuda_error", "\x1b[31mCUDA error: " + std::string(400, 'x'))});
  machine.second({line("traceback", "Traceback (most recent call last):")});
  ASSERT_EQ(machine.firing().size(), 2u);
  EXPECT_EQ(machine.all[0].family, "log");
  EXPECT_EQ(machine.all[0].urgency, Urgency::critical);
  EXPECT_LE(machine.all[0].text.size(), 200u);
  EXPECT_EQ(machine.all[0].text.find('\x1b'), std::string::npos);
}

TEST(LogError, WhatFollowsTheWatchdogIsItsEcho) {
  Machine machine;
  machine.second({line("collective_timeout", kWatchdog, i64{3})});
  machine.second({line("nccl_error", "NCCL error"), line("cuda_out_of_memory", "CUDA out of memory")});
  ASSERT_EQ(machine.all.size(), 2u);
  EXPECT_EQ(machine.all[1].device, "cuda_out_of_memory");
  machine.at += 3 * kMinute;
  machine.second({line("nccl_error", "NCCL error")});
  EXPECT_EQ(machine.rules_.firing().size(), 2u);
}

}  // namespace
}  // namespace spotter::respond
