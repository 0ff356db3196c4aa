#include "respond/incidents/conclusion.h"

#include <gtest/gtest.h>

#include "respond/test_rules.h"

namespace spotter::respond {
namespace {

using namespace test;

Cells finding(const char* mechanism, const char* kind, const char* ranks, i64 time, const char* confidence) {
  return {{"mechanism", mechanism},
          {"kind", kind},
          {"ranks", ranks},
          {"time_ns", time},
          {"confidence", confidence},
          {"finding", "Rank 3 computes 50 % longer."},
          {"remedy", "Look at it."},
          {"evidence", "spotter analyze /tmp/x --table kernel_breakdown --ranks 3"},
          {"against", ""}};
}

Table receipts(int written, int failed = 0) {
  std::vector<Cells> rows;
  for (i64 i = 0; i < written + failed; ++i)
    rows.push_back({{"host", i < 8 ? "gpu01" : "gpu02"},
                    {"rank", i},
                    {"state", i < written ? "written" : "failed"},
                    {"reason", i < written ? "" : "the disk is full"}});
  return table_of("receipts", rows);
}

TEST(Conclusion, TheFirstFaultIsTheCause) {
  const Table findings =
      table_of("findings", {finding("exposed_communication", "opportunity", "", 90'000'000, "medium"),
                            finding("slow_device", "fault", "3,9-10", 43'900'000, "high"),
                            finding("host_pause", "fault", "5", 4'000'000, "medium")});
  const Conclusion c = conclusion_of(findings, receipts(16), 1024);
  ASSERT_TRUE(c.verdict);
  EXPECT_EQ(c.verdict->cause, "slow_device");
  EXPECT_EQ(c.verdict->confidence, Confidence::medium) << "a trace alone is never sure";
  EXPECT_NEAR(*c.verdict->at_stake_s_per_step, 0.0439, 1e-9);
  ASSERT_EQ(c.verdict->suspects.size(), 3u);
  EXPECT_EQ(c.verdict->suspects[0].rank, 3);
  EXPECT_EQ(c.verdict->suspects[0].host, "gpu01");
  EXPECT_EQ(c.verdict->suspects[2].rank, 10);
  EXPECT_EQ(c.verdict->suspects[2].host, "gpu02");
  EXPECT_EQ(c.verdict->remedy, "Look at it.");
  ASSERT_EQ(c.evidence.size(), 3u);
  EXPECT_EQ(c.evidence[1].table, "kernel_breakdown");
  EXPECT_EQ(c.not_known, std::vector<std::string>{"1008 of 1024 ranks were not traced"});
}

TEST(Conclusion, WhereAnotherIsAsLikelyItIsLow) {
  const auto confidence = [](i64 rival, const char* ranks) {
    const Table findings = table_of("findings", {finding("slow_device", "fault", "3", 40'000'000, "high"),
                                                 finding("slow_device", "fault", ranks, rival, "high")});
    return conclusion_of(findings, receipts(8), 8).verdict->confidence;
  };
  EXPECT_EQ(confidence(30'000'000, "4"), Confidence::low);
  EXPECT_EQ(confidence(20'000'000, "4"), Confidence::medium);
  EXPECT_EQ(confidence(30'000'000, "3"), Confidence::medium) << "the same one";
}

TEST(Conclusion, WhatAllThatWereTracedHaveOthersMayHave) {
  const auto of = [](const char* ranks, int traced, i64 all) {
    return conclusion_of(table_of("findings", {finding("host_sync", "fault", ranks, 40'000'000, "high")}),
                         receipts(traced), all);
  };
  EXPECT_TRUE(of("0-7", 8, 1024).verdict->suspects.empty());
  const Conclusion one = of("0", 1, 1024);
  EXPECT_EQ(one.verdict->suspects.size(), 1u);
  EXPECT_EQ(one.verdict->confidence, Confidence::low);
  ASSERT_FALSE(one.against.empty());
  EXPECT_TRUE(one.against[0].starts_with(kDoubt)) << one.against[0];
  EXPECT_EQ(of("0-6", 8, 1024).verdict->suspects.size(), 7u);
  EXPECT_EQ(of("0-7", 8, 8).verdict->suspects.size(), 8u);
  EXPECT_TRUE(of("0-15", 16, 64).verdict->suspects.empty()) << "of which not all are named";
}

TEST(Conclusion, WithoutAFaultNothingIsNamed) {
  const Table findings =
      table_of("findings", {finding("exposed_communication", "opportunity", "", 90'000'000, "medium"),
                            finding("no_device_work", "caveat", "", 0, "")});
  const Conclusion c = conclusion_of(findings, receipts(3, 1), 4);
  EXPECT_FALSE(c.verdict);
  EXPECT_EQ(c.not_known, (std::vector<std::string>{"the traces show no fault", "Rank 3 computes 50 % longer.",
                                                   "1 of 4 ranks were not traced",
                                                   "rank 3 wrote no trace: the disk is full"}));
  EXPECT_EQ(c.evidence.size(), 1u);
}

// A process that is stopped for a part of the time may miss the begin of its trace: that it did, and that the
// others wait, is what there is.
TEST(Conclusion, ARankThatSleptWhileTheOthersWaitIsTheCause) {
  const auto of = [](double small, double waiting, const char* reason) {
    Cells fault = finding("host_pause", "fault", "0", 3'000'000, "low"),
          exposed = finding("exposed_communication", "opportunity", "", 190'000'000, "medium");
    fault.emplace_back("share", small);
    exposed.emplace_back("share", waiting);
    std::vector<Cells> rows;
    for (i64 i = 0; i < 4; ++i)
      rows.push_back({{"host", "gpu01"},
                      {"rank", i},
                      {"state", i == 1 ? "failed" : "written"},
                      {"reason", i == 1 ? reason : ""}});
    return conclusion_of(table_of("findings", {fault, exposed}), table_of("receipts", rows), 4);
  };
  const char* const asleep = "the process woke too late for its warm-up and dropped the request";
  const Conclusion c = of(0.014, 0.84, asleep);
  ASSERT_TRUE(c.verdict);
  EXPECT_EQ(c.verdict->cause, "slow_host");
  EXPECT_EQ(c.verdict->confidence, Confidence::medium);
  ASSERT_EQ(c.verdict->suspects.size(), 1U);
  EXPECT_EQ(c.verdict->suspects[0].rank, 1);
  EXPECT_EQ(c.verdict->suspects[0].host, "gpu01");
  EXPECT_EQ(
      c.verdict->sentence,
      "Rank 1 (host gpu01) was asleep when its trace was to begin, while the others ran and waited: 84 % of "
      "each of their steps is communication.");
  EXPECT_EQ(
      of(0.014, 0.84, "the process did not ask for the request within 10.0 s").verdict->suspects[0].rank, 1);
  EXPECT_EQ(of(0.014, 0.84, "the disk is full").verdict->suspects[0].rank, 0);
  EXPECT_EQ(of(0.05, 0.84, asleep).verdict->suspects[0].rank, 0) << "a fault that costs something";
  EXPECT_EQ(of(0.014, 0.1, asleep).verdict->suspects[0].rank, 0) << "nobody waits";
}

TEST(Conclusion, RanksThatAnEarlierCaptureTracedAreCountedOnce) {
  const Table none = table_of("findings", {finding("no_device_work", "caveat", "", 0, "")});
  EXPECT_EQ(ranks_traced(receipts(2, 5)), (std::set<i64>{0, 1})) << "not those that were asked only";
  EXPECT_EQ(conclusion_of(none, receipts(3), 8, {2, 3, 4}).not_known.back(), "3 of 8 ranks were not traced");
}

TEST(Conclusion, RanksOfAnyFormAreBounded) {
  const Table findings =
      table_of("findings", {finding("slow_device", "fault", "0-99999999,x,7-,-3", 1, "high")});
  EXPECT_EQ(conclusion_of(findings, receipts(1), 0).verdict->suspects.size(), 8u);
}

TEST(Conclusion, WhyThereAreNoFindings) {
  EXPECT_EQ(without_findings(receipts(0, 2)).not_known,
            std::vector<std::string>{"ranks 0, 1 wrote no trace: the disk is full"});
  EXPECT_EQ(without_findings(receipts(0, 10)).not_known,
            std::vector<std::string>{
                "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 2 more processes wrote no trace: the disk is full"});
  const Cells unknown = {{"host", "gpu01"}, {"state", "expired"}, {"reason", ""}};
  EXPECT_EQ(without_findings(table_of("receipts", {unknown, unknown})).not_known,
            std::vector<std::string>{"2 processes wrote no trace: expired"});
  EXPECT_EQ(without_findings(receipts(2)).not_known,
            std::vector<std::string>{"the traces could not be read"});
}

}  // namespace
}  // namespace spotter::respond
