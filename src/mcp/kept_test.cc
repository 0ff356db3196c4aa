#include "mcp/kept.h"

#include <gtest/gtest.h>

namespace spotter::mcp {
namespace {

Capture capture(const std::string& id, const std::string& version = "1") {
  return {.id = id, .version = version};
}
Kept<int>::Ptr number(int n) { return std::make_shared<const int>(n); }

TEST(Kept, ANewVersionTakesThePlaceOfTheOldOne) {
  Kept<int> kept(10, 100);
  kept.keep(capture("a"), "x", number(1), 1);
  kept.keep(capture("a"), "y", number(2), 1);
  kept.keep(capture("a", "2"), "x", number(3), 1);
  EXPECT_EQ(kept.find(capture("a"), "x"), nullptr);
  EXPECT_EQ(kept.find(capture("a"), "y"), nullptr);
  EXPECT_EQ(*kept.find(capture("a", "2"), "x"), 3);
}

TEST(Kept, WhatWasUsedLastStays) {
  Kept<int> kept(2, 100);
  kept.keep(capture("a"), "", number(1), 1);
  kept.keep(capture("b"), "", number(2), 1);
  ASSERT_NE(kept.find(capture("a"), ""), nullptr);
  kept.keep(capture("c"), "", number(3), 1);
  EXPECT_EQ(kept.find(capture("b"), ""), nullptr);
  EXPECT_EQ(*kept.find(capture("a"), ""), 1);
}

TEST(Kept, ByWeightTheNewestIsAlwaysKept) {
  Kept<int> kept(10, 100);
  kept.keep(capture("a"), "", number(1), 60);
  kept.keep(capture("b"), "", number(2), 60);
  EXPECT_EQ(kept.find(capture("a"), ""), nullptr);
  kept.keep(capture("c"), "", number(3), 1'000);
  EXPECT_EQ(*kept.find(capture("c"), ""), 3);
  EXPECT_EQ(kept.find(capture("b"), ""), nullptr);
}

}  // namespace
}  // namespace spotter::mcp
