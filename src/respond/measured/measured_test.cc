// Own work of ranks and hosts: which samples count, who stands out, and what that makes of a verdict.
#include "respond/measured/measured.h"

#include <gtest/gtest.h>

#include "respond/measured/compare.h"
#include "respond/measured/own_work.h"
#include "respond/test_rules.h"
#include "table/rates.h"

namespace spotter::respond {
namespace {

using namespace test;

constexpr i64 kRanks = 8, kSamples = 12, kNobody = -1;

// The clocks of the GPUs of eight ranks on two hosts; that of one rank is what it says.
Table clocks(i64 slow_rank, double slow_hertz, double utilization = 1) {
  std::vector<Cells> rows;
  for (i64 rank = 0; rank < kRanks; ++rank) {
    for (i64 i = 0; i < kSamples; ++i)
      rows.push_back(
          {{"host", rank < 4 ? "gpu01" : "gpu02"},
           {"gpu", rank % 4},
           {"job", "4711"},
           {"rank", rank},
           {"utilization_ratio", rank == slow_rank ? utilization : 1.0},
           {"sm_clock_hertz", rank == slow_rank ? slow_hertz : 1980e6 + static_cast<double>(i) * 1e6}});
  }
  return table_of("gpu", rows);
}

Table pressure(const char* slow_host, double ratio, int hosts = 6) {
  constexpr const char* kHosts[] = {"gpu01", "gpu02", "gpu03", "gpu04", "gpu05", "gpu06"};
  std::vector<Cells> rows;
  for (int host = 0; host < hosts; ++host) {
    for (const char* resource : {"cpu", "memory"}) {
      for (i64 i = 0; i < kSamples; ++i) {
        const bool is_slow =
            std::string_view(kHosts[host]) == slow_host && std::string_view(resource) == "cpu";
        rows.push_back(
            {{"host", kHosts[host]}, {"resource", resource}, {"some_ratio", is_slow ? ratio : 0.01}});
      }
    }
  }
  return table_of("pressure", rows);
}

Conclusion of_rank(i64 rank, const char* host) {
  Verdict verdict{.cause = "slow_device", .confidence = Confidence::medium};
  verdict.suspects.push_back({.rank = rank, .host = host});
  return {.verdict = verdict, .evidence = {{.says = "Rank 5 computes longer."}, {.says = "Another."}}};
}

Conclusion compared(const Table& now, const Table& before, Conclusion conclusion) {
  compare(measured(std::span(&now, 1), std::span(&before, 1), "4711"), "gpu01", "10.0.0.1", conclusion);
  return conclusion;
}
// All were alike before.
Conclusion compared(const Table& now, Conclusion conclusion) {
  const bool is_of_hosts = std::string_view(now.name()) == "pressure";
  return compared(now, is_of_hosts ? pressure("", 0) : clocks(kNobody, 0), std::move(conclusion));
}

TEST(Measured, IsTheMedianOfWhatEachRankDoes) {
  const Table table = clocks(5, 1200e6);
  const Table m = measured(std::span(&table, 1), {}, "4711");
  ASSERT_EQ(m.rows(), 8u);
  EXPECT_EQ(m.text(5, m.column("host")), "gpu02");
  EXPECT_EQ(m.integer(5, m.column("rank")), 5);
  EXPECT_EQ(m.text(5, m.column("device")), "gpu 1");
  EXPECT_EQ(m.text(5, m.column("metric")), "gpu_sm_clock_hertz");
  EXPECT_EQ(m.integer(5, m.column("samples")), kSamples);
  EXPECT_EQ(std::get<double>(m.at(5, m.column("value"))), 1200e6);
  EXPECT_EQ(measured(std::span(&table, 1), {}, "4712").rows(), 0u) << "of another job";
}

TEST(Measured, AGpuWithoutWorkIsNotLookedAt) {
  const Table table = clocks(5, 210e6, 0.1);
  EXPECT_EQ(measured(std::span(&table, 1), {}, "4711").rows(), 7u);
}

TEST(Measured, ASuspectThatDiffersIsSure) {
  const Conclusion c = compared(clocks(5, 1200e6), of_rank(5, "gpu02"));
  EXPECT_EQ(c.verdict->confidence, Confidence::high);
  ASSERT_EQ(c.evidence.size(), 3u);
  EXPECT_EQ(
      c.evidence[1].says,
      "rank 5 on gpu02 (GPU 1): SM clock 1200 MHz (before: 1986 MHz), the median of 8 ranks is 1986 MHz");
  EXPECT_EQ(c.evidence[1].command, "spotter metrics --since 10m --metric gpu_sm_clock_hertz --host gpu02");
  EXPECT_TRUE(c.against.empty());
}

TEST(Measured, ASuspectLikeTheOthersIsNotMadeSure) {
  const Conclusion c = compared(clocks(5, 1980e6), of_rank(5, "gpu02"));
  EXPECT_EQ(c.verdict->confidence, Confidence::medium);
  EXPECT_EQ(c.evidence.size(), 2u);
  EXPECT_EQ(c.against, std::vector<std::string>{"measured: SM clock of rank 5: like the others'"});
  EXPECT_TRUE(c.not_known.empty());
}

TEST(Measured, WhoElseDiffersSpeaksAgainstIt) {
  const Conclusion c = compared(clocks(2, 1200e6), of_rank(5, "gpu02"));
  EXPECT_EQ(c.verdict->confidence, Confidence::medium);
  ASSERT_EQ(c.against.size(), 2u);
  EXPECT_EQ(
      c.against[0],
      "but rank 2 on gpu01 (GPU 2): SM clock 1200 MHz (before: 1986 MHz), the median of 8 ranks is 1986 MHz");
}

TEST(Measured, AFasterClockNamesNobody) {
  Conclusion c = compared(clocks(5, 3500e6), {});
  EXPECT_FALSE(c.hint);
  c = compared(clocks(5, 3500e6), of_rank(5, "gpu02"));
  EXPECT_EQ(c.verdict->confidence, Confidence::medium);
}

TEST(Measured, WithoutATraceItIsAHint) {
  const Conclusion c = compared(clocks(5, 1200e6), {});
  EXPECT_FALSE(c.verdict);
  ASSERT_TRUE(c.hint);
  EXPECT_EQ(c.hint->verdict.cause, "rank_outlier");
  EXPECT_EQ(c.hint->verdict.confidence, Confidence::low);
  ASSERT_EQ(c.hint->verdict.suspects.size(), 1u);
  EXPECT_EQ(c.hint->verdict.suspects[0].rank, 5);
  EXPECT_EQ(c.hint->verdict.suspects[0].host, "gpu02");
  EXPECT_EQ(c.hint->verdict.suspects[0].gpu, 1);
  EXPECT_NE(c.hint->evidence.says.find("1200 MHz"), std::string::npos);
}

// Another model of GPU, another duty.
TEST(Measured, WhoWasAlwaysSoIsNoSuspect) {
  const Table slow = clocks(5, 1200e6);
  EXPECT_FALSE(compared(slow, slow, {}).hint);
  EXPECT_EQ(compared(slow, slow, of_rank(5, "gpu02")).verdict->confidence, Confidence::medium);
  EXPECT_TRUE(compared(slow, slow, of_rank(2, "gpu01")).against.front().find("like the others") !=
              std::string::npos);
}

TEST(Measured, OneStepSurer) {
  Conclusion low = of_rank(5, "gpu02");
  low.verdict->confidence = Confidence::low;
  EXPECT_EQ(compared(clocks(5, 1200e6), low).verdict->confidence, Confidence::medium);
}

TEST(Measured, WhatIsBetweenIsShownAndProvesNothing) {
  const Conclusion c = compared(clocks(5, 1500e6), of_rank(5, "gpu02"));
  EXPECT_EQ(c.verdict->confidence, Confidence::medium);
  ASSERT_EQ(c.evidence.size(), 3u);
  EXPECT_NE(c.evidence[1].says.find("1500 MHz"), std::string::npos);
  EXPECT_TRUE(c.against.empty()) << "it is not like the others";
}

TEST(Measured, AGpuOfNobodyKnownConfirmsNobody) {
  std::vector<Cells> rows;
  for (i64 gpu = 0; gpu < 8; ++gpu)
    rows.push_back({{"host", "gpu02"},
                    {"device", fmt::format("gpu {}", gpu) == "gpu 7" ? "gpu 7" : "gpu x"},
                    {"metric", "gpu_sm_clock_hertz"},
                    {"samples", i64{9}},
                    {"value", gpu == 7 ? 1e9 : 2e9}});
  Conclusion c = of_rank(5, "gpu02");
  compare(table_of("measured", rows), "gpu01", "", c);
  EXPECT_EQ(c.verdict->confidence, Confidence::medium);
  EXPECT_EQ(c.evidence.size(), 2u);
}

TEST(Measured, ThisHostByAnotherName) {
  std::vector<Cells> rows;
  for (const char* host : {"10.0.0.1", "gpu02", "gpu03", "gpu04"})
    rows.push_back({{"host", host},
                    {"device", "cpu"},
                    {"metric", "pressure_some_ns"},
                    {"samples", i64{9}},
                    {"value", std::string_view(host) == "10.0.0.1" ? 0.7 : 0.01}});
  Conclusion c = of_rank(3, "gpu01");
  compare(table_of("measured", rows), "gpu01", "10.0.0.1", c);
  EXPECT_EQ(c.verdict->confidence, Confidence::high);
  EXPECT_EQ(c.evidence.at(1).says, "gpu01: tasks in wait (cpu) 70 %, the median of 4 hosts is 1 %");
}

TEST(Measured, TheTimeThatIsLookedAt) {
  EXPECT_EQ(slow_stretch(0).since, kMinute) << "it is not known when it began";
  EXPECT_EQ(stretch_before(0).since, 0);
  EXPECT_EQ(slow_stretch(2 * kSecond).since, 5 * kSecond);
  EXPECT_EQ(slow_stretch(kHour).since, 5 * kMinute);
  EXPECT_EQ(slow_stretch(kHour).step, 10 * kSecond);
  EXPECT_EQ(stretch_before(20 * kSecond).until, 23 * kSecond);
  EXPECT_EQ(stretch_before(20 * kSecond).since, 83 * kSecond);
}

TEST(Measured, AHostIsComparedWithHosts) {
  const Conclusion c = compared(pressure("gpu04", 0.7), of_rank(5, "gpu04.cluster"));
  EXPECT_EQ(c.verdict->confidence, Confidence::high) << "its rank is there";
  ASSERT_EQ(c.evidence.size(), 3u);
  EXPECT_EQ(c.evidence[1].says,
            "gpu04: tasks in wait (cpu) 70 % (before: 1 %), the median of 6 hosts is 1 %");
  EXPECT_EQ(c.against,
            std::vector<std::string>{"measured: tasks in wait (memory) of rank 5: like the others'"});
}

TEST(Measured, OfThreeNobodyIsUnusual) {
  const Conclusion c = compared(pressure("gpu02", 0.7, 3), of_rank(5, "gpu02"));
  EXPECT_EQ(c.verdict->confidence, Confidence::medium);
  EXPECT_EQ(c.evidence.size(), 2u);
}

TEST(Measured, WhatIsNotMeasuredIsSaid) {
  const Conclusion c = compared(table_of("gpu", {{{"job", "4711"}}}), of_rank(5, "gpu02"));
  EXPECT_EQ(c.verdict->confidence, Confidence::medium);
  ASSERT_EQ(c.not_known.size(), 1u);
  EXPECT_NE(c.not_known[0].find("rank 5"), std::string::npos);
}

TEST(Measured, TwoSamplesTellNothing) {
  std::vector<Cells> rows;
  for (i64 rank = 0; rank < kRanks; ++rank)
    rows.push_back({{"host", "gpu01"},
                    {"rank", rank},
                    {"device", ""},
                    {"metric", "gpu_sm_clock_hertz"},
                    {"samples", i64{2}},
                    {"value", rank == 5 ? 1e9 : 2e9}});
  Conclusion c = of_rank(5, "gpu01");
  compare(table_of("measured", rows), "gpu01", "", c);
  EXPECT_EQ(c.verdict->confidence, Confidence::medium);
}

// What an agent of another version or a hostile one says.
TEST(Measured, RowsOfAnythingEndNothing) {
  Conclusion c = of_rank(5, "gpu01");
  const double none = std::numeric_limits<double>::quiet_NaN();
  compare(table_of("measured", {{{"metric", "no_such"}, {"samples", i64{9}}, {"value", 1.0}},
                                {{"metric", "gpu_sm_clock_hertz"}, {"samples", i64{9}}, {"value", none}}}),
          "gpu01", "", c);
  EXPECT_EQ(c.verdict->confidence, Confidence::medium);
  compare(table_of("measured", {{{"metric", i64{3}}}}), "gpu01", "", c);
  EXPECT_EQ(c.evidence.size(), 2u);
}

}  // namespace
}  // namespace spotter::respond
