#include "respond/incidents/waiting_group.h"

#include <gtest/gtest.h>

#include "respond/test_rules.h"

namespace spotter::respond {
namespace {

TEST(WaitingGroup, RanksAreThoseOfItsWords) {
  const WaitingGroup group = waiting_group("13 [32, 33, 39] mesh_tp");
  EXPECT_EQ(group.ranks, (std::vector<i64>{32, 33, 39}));
  EXPECT_TRUE(group.is_whole);
}

TEST(WaitingGroup, OfALargeOneNotAllAreListed) {
  for (const char* words : {"0 [0, 1, 2, ..., 71] default_pg", "0 [0, 1, 2, ...]"}) {
    EXPECT_FALSE(waiting_group(words).is_whole) << words;
    EXPECT_GE(waiting_group(words).ranks.size(), 3u) << words;
  }
}

TEST(WaitingGroup, WhatListsNobodyIsNone) {
  for (const char* words : {"", "stream 7", "0 []", "0 [", "] 0 [", "0 [a, b]"}) {
    EXPECT_FALSE(waiting_group(words).is_whole) << words;
    EXPECT_TRUE(waiting_group(words).ranks.empty()) << words;
  }
}

TEST(WaitingGroup, IsInTheFindings) {
  using test::Cells;
  const Cells fault = {{"mechanism", "slow_device"}, {"group", "1 [0, 1]"}},
              absent = {{"mechanism", "absent_ranks"}, {"group", "2 [2, 3]"}};
  EXPECT_FALSE(waiting_group_in(test::table_of("findings", {fault})));
  const auto found = waiting_group_in(test::table_of("findings", {fault, absent}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ranks, (std::vector<i64>{2, 3}));
}

}  // namespace
}  // namespace spotter::respond
