#include "respond/hang.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace spotter::respond {
namespace {

HangFacts facts_of(std::vector<HostedRank> ranks, i64 world_size = 4) {
  return {.host = "n1", .world_size = world_size, .ranks = std::move(ranks)};
}
// As many, all asleep in a futex but for one.
HangFacts four(i64 odd, char state, const char* function) {
  HangFacts facts = facts_of({});
  for (i64 rank = 0; rank < 4; ++rank)
    facts.ranks.push_back(
        {.host = "n1", .rank = rank, .pid = 100 + rank, .state = 'S', .function = "futex_do_wait"});
  facts.ranks[static_cast<size_t>(odd)].state = state;
  facts.ranks[static_cast<size_t>(odd)].function = function;
  return facts;
}
Condition counted(std::optional<i64> rank, const char* host = "n1") {
  return {.rule = "collective_stuck",
          .family = "progress",
          .host = host,
          .rank = rank,
          .device = "AllReduce 5",
          .value = 1,
          .unit = "count",
          .source = "NCCL RAS"};
}
std::vector<i64> ranks_of(const Verdict& verdict) {
  std::vector<i64> ranks;
  for (const Suspect& suspect : verdict.suspects) ranks.push_back(*suspect.rank);
  return ranks;
}

TEST(Hang, ARankThatIsGoneWasWhereItsHostSays) {
  HangFacts facts = facts_of({}, 8);
  facts.conditions = {{.rule = "rank_gone", .family = "progress", .host = "n5", .rank = 3},
                      counted(3, "10.0.0.5")};
  const Conclusion c = conclusion_of(facts);
  ASSERT_TRUE(c.verdict);
  EXPECT_EQ(c.verdict->sentence, "Rank 3 on n5 is gone; the others wait");
  EXPECT_EQ(c.verdict->suspects.at(0).host, "n5");
}

TEST(Hang, ARankThatIsStopped) {
  const Conclusion c = conclusion_of(four(2, 'T', ""));
  ASSERT_TRUE(c.verdict);
  EXPECT_EQ(c.verdict->cause, "hang");
  EXPECT_EQ(c.verdict->sentence, "Rank 2 on n1 is stopped (T); the others wait");
  EXPECT_EQ(c.verdict->confidence, Confidence::medium);
  EXPECT_EQ(ranks_of(*c.verdict), std::vector<i64>{2});
  EXPECT_EQ(c.verdict->suspects[0].host, "n1");
  ASSERT_EQ(c.evidence.size(), 1u);
  EXPECT_EQ(c.evidence[0].says, "rank 2 on n1 is stopped (T): process 102");
  EXPECT_TRUE(c.not_known.empty());
}

TEST(Hang, WhomTheOthersWaitForMakesItCertain) {
  HangFacts facts = four(2, 'T', "");
  facts.conditions = {counted(2)};
  EXPECT_EQ(conclusion_of(facts).verdict->confidence, Confidence::high);
  EXPECT_EQ(conclusion_of(facts).evidence[1].says, "rank 2 on n1 (AllReduce 5): it has not arrived");
  facts.conditions = {counted(1)};
  const Conclusion c = conclusion_of(facts);
  EXPECT_EQ(c.verdict->confidence, Confidence::low);
  EXPECT_EQ(c.against,
            std::vector<std::string>{"but others wait for rank 1, say NCCL or the flight recorders"});
  facts.conditions.clear();
  facts.recorded = RecordedHang{.ranks = {2}, .what = "Rank 2 never called all_reduce 5 of group 0"};
  EXPECT_EQ(conclusion_of(facts).verdict->confidence, Confidence::high);
}

TEST(Hang, ARankThatWaitsForADisk) {
  const Conclusion c = conclusion_of(four(3, 'D', "nfs_wait_bit_killable"));
  ASSERT_TRUE(c.verdict);
  EXPECT_EQ(c.verdict->cause, "storage_hangs");
  EXPECT_EQ(c.verdict->sentence,
            "Rank 3 on n1 waits for a disk or a file server (D, nfs_wait_bit_killable); the others wait");
  HangFacts below = four(3, 'D', "rwsem_down_read_slowpath");
  EXPECT_EQ(conclusion_of(below).verdict->cause, "hang");
  EXPECT_EQ(conclusion_of(below).verdict->confidence, Confidence::low);
  below.ranks[3].stack = {"rwsem_down_read_slowpath", "xfs_ilock"};
  EXPECT_EQ(conclusion_of(below).verdict->cause, "storage_hangs");
}

TEST(Hang, WhomNcclOrTheRecordsNameIsNamedThoughNothingIsWrongHere) {
  HangFacts facts = four(0, 'S', "futex_do_wait");
  facts.world_size = 8;
  facts.conditions = {counted(6, "10.0.0.2")};
  const Conclusion c = conclusion_of(facts);
  ASSERT_TRUE(c.verdict);
  EXPECT_EQ(c.verdict->sentence, "Rank 6 has not arrived in a collective; the others wait");
  EXPECT_EQ(c.verdict->confidence, Confidence::medium);
  EXPECT_EQ(c.verdict->suspects[0].host, "10.0.0.2");
  EXPECT_EQ(c.not_known, std::vector<std::string>{"what 4 of 8 ranks do: their hosts have not said so"});
  EXPECT_EQ(c.against,
            std::vector<std::string>{"host: no rank on n1 is stopped, has ended or waits for a disk"});
  facts.recorded = RecordedHang{.ranks = {5}, .what = "Of rank 5 there is no dump", .has_no_dump = true};
  EXPECT_EQ(conclusion_of(facts).verdict->confidence, Confidence::low);
  EXPECT_EQ(ranks_of(*conclusion_of(facts).verdict), std::vector<i64>{5});
}

TEST(Hang, WithoutASuspectItSaysWhereRanksWait) {
  HangFacts facts = four(1, 'R', "");
  facts.not_known = {"no dump of a flight recorder was found"};
  const Conclusion c = conclusion_of(facts);
  EXPECT_FALSE(c.verdict);
  ASSERT_EQ(c.evidence.size(), 1u);
  EXPECT_EQ(c.evidence[0].says, "on n1: rank 1 (R); ranks 0, 2, 3 (S, futex_do_wait)");
  EXPECT_EQ(c.not_known, facts.not_known);
}

// rank_gone has found it; what is new is that the others wait for it.
TEST(Hang, ARankThatHasGoneIsFoundOnce) {
  HangFacts facts = four(0, 'S', "futex_do_wait");
  facts.ranks.pop_back();
  facts.conditions = {{.rule = "rank_gone", .family = "progress", .host = "n1", .rank = 3}};
  EXPECT_FALSE(conclusion_of(facts).verdict);
  facts.ranks.push_back({.host = "n1", .rank = 3, .pid = 103, .state = 'Z'});
  EXPECT_FALSE(conclusion_of(facts).verdict);
  facts.conditions.push_back(counted(3));
  ASSERT_TRUE(conclusion_of(facts).verdict);
  EXPECT_EQ(conclusion_of(facts).verdict->cause, "rank_gone");
  EXPECT_EQ(ranks_of(*conclusion_of(facts).verdict), std::vector<i64>{3});
}

TEST(Hang, ARankOfAnotherHost) {
  HangFacts facts = four(1, 'S', "futex_do_wait");
  facts.ranks.push_back({.host = "n2", .rank = 4, .state = 'T'});
  facts.ranks.push_back({.host = "n3", .rank = 5, .state = 'T'});
  facts.world_size = 6;
  const Conclusion c = conclusion_of(facts);
  ASSERT_TRUE(c.verdict);
  EXPECT_EQ(c.verdict->sentence, "Ranks 4, 5 on n2, n3 are stopped (T); the others wait");
  EXPECT_EQ(c.verdict->suspects.at(1).host, "n3");
  EXPECT_EQ(c.evidence.at(0).says, "rank 4 on n2 is stopped (T)");
  EXPECT_EQ(c.evidence.at(0).command, "") << "there is no process 0";
  EXPECT_TRUE(c.not_known.empty());
}

std::vector<HostedRank> told(const std::string& kernel_wait, const char* rule = "progress_stopped") {
  return hosted_ranks_of(
      {.rule = rule, .family = "progress", .host = "n2", .rank = 4, .kernel_wait = kernel_wait});
}

TEST(Hang, WhatAHostTellsAnother) {
  const std::vector<HostedRank> here = {
      {.rank = 4, .state = 'T'},
      {.rank = 5, .state = '?'},
      {.rank = 6, .state = 'D', .function = "rwsem_down_read_slowpath", .stack = {"schedule", "xfs_ilock"}},
      {.rank = 7, .state = 'D', .function = "nfs_wait", .stack = {"xfs_ilock"}}};
  EXPECT_EQ(kernel_wait_of(here), "4 T, 6 D xfs_ilock, 7 D nfs_wait") << "it says why";
  const std::vector<HostedRank> there = told(kernel_wait_of(here));
  ASSERT_EQ(there.size(), 3u);
  EXPECT_EQ(there[0].state, 'T');
  EXPECT_EQ(there[1].function, "xfs_ilock");
  EXPECT_EQ(there[1].host, "n2");
  EXPECT_EQ(there[1].rank, 6);
  EXPECT_EQ(there[1].pid, 0);
}

TEST(Hang, WhatNoKernelSaysIsNotTaken) {
  for (const char* said :
       {"", "4", "4 Q", "T", "-4 T", "4 DD", "4 D a b", "4 D <!channel>", "x T", "4 D a\\n"})
    EXPECT_TRUE(told(said).empty()) << said;
  EXPECT_TRUE(told("4 D " + std::string(65, 'a')).empty());
  EXPECT_TRUE(told("4 T", "log_error").empty());
  EXPECT_EQ(told("4 Q, 5 T").size(), 1u);
  std::string many = "0 T";
  for (int rank = 1; rank < 1000; ++rank) many += fmt::format(", {} T", rank);
  EXPECT_EQ(told(many).size(), 64u);
}

TEST(Hang, TextOfAJobIsPrintable) {
  HangFacts facts = four(0, 'S', "");
  facts.recorded = RecordedHang{.ranks = {1}, .what = "rank 1 \x1b[31m never"};
  const Conclusion c = conclusion_of(facts);
  EXPECT_EQ(c.verdict->sentence.find('\x1b'), std::string::npos);
  EXPECT_EQ(c.evidence[0].says.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace spotter::respond
