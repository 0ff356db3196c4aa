#include "base/text/listed_ranks.h"

#include <gtest/gtest.h>

namespace spotter {
namespace {

TEST(ListedRanks, RanksAreThoseOfItsWords) {
  const ListedRanks group = listed_ranks("13 [32, 33, 39] mesh_tp");
  EXPECT_EQ(group.ranks, (std::vector<i64>{32, 33, 39}));
  EXPECT_TRUE(group.is_whole);
}

TEST(ListedRanks, OfALargeOneNotAllAreListed) {
  for (const char* words : {"0 [0, 1, 2, ..., 71] default_pg", "0 [0, 1, 2, ...]"}) {
    EXPECT_FALSE(listed_ranks(words).is_whole) << words;
    EXPECT_GE(listed_ranks(words).ranks.size(), 3u) << words;
  }
}

TEST(ListedRanks, WhatListsNobodyIsNone) {
  for (const char* words : {"", "stream 7", "0 []", "0 [", "] 0 [", "0 [a, b]"}) {
    EXPECT_FALSE(listed_ranks(words).is_whole) << words;
    EXPECT_TRUE(listed_ranks(words).ranks.empty()) << words;
  }
}

}  // namespace
}  // namespace spotter
