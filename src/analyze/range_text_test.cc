#include "analyze/range_text.h"

#include <gtest/gtest.h>

namespace spotter::analyze {
namespace {

TEST(RangeText, WhatPeopleWrite) {
  const auto ranges = parse_ranges("0,3-7,9").value();
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[1].first, 3);
  EXPECT_EQ(ranges[1].last, 7);
  EXPECT_EQ(parse_range("4").value().last, 4);
  for (const char* text : {"", ",", "1,", "7-3", "-3", "3-", "1-2-3", "a", "1, 2", "99999999999999999999"}) {
    EXPECT_FALSE(parse_ranges(text)) << text;
    EXPECT_FALSE(parse_range(text)) << text;
  }
}

}  // namespace
}  // namespace spotter::analyze
