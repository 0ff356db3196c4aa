#include "respond/logs/log_templates.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace spotter::respond {
namespace {

using Word = LogTemplates::Word;

constexpr Ns kStart = 1'795'000'000 * kSecond;

TEST(LogTemplates, LinesOfAKindDifferInNumbersPathsAndQuotedText) {
  const u64 kind = LogTemplates::kind_of("10:31:07 rank3: saved '/a/b c' to /data/run1 in 3.5 s (0x7f00ab)");
  EXPECT_EQ(kind, LogTemplates::kind_of("11:02:59 rank14: saved '/x' to /data/2 in 12 s (0x10)"));
  EXPECT_NE(kind, LogTemplates::kind_of("10:31:07 rank3: loaded '/a/b c' to /data/run1 in 3.5 s (0x7f00ab)"));
  EXPECT_NE(LogTemplates::kind_of("cannot reach it"), LogTemplates::kind_of("can't reach it"));
  EXPECT_EQ(LogTemplates::kind_of(""), LogTemplates::kind_of(""));
}

TEST(LogTemplates, WhatNeverWasIsNewOnce) {
  LogTemplates lines;
  for (Ns at = kStart; at < kStart + 5 * kMinute; at += kSecond)
    ASSERT_EQ(lines.add(fmt::format("step {} loss 1.5", at), at), Word::usual);
  const Ns now = kStart + 5 * kMinute;
  EXPECT_EQ(lines.add("retrying the connection to 10.0.0.7", now), Word::is_new);
  EXPECT_EQ(lines.add("retrying the connection to 10.0.0.8", now), Word::usual);
}

TEST(LogTemplates, TheFirstLinesOfAJobAreNoNews) {
  LogTemplates lines;
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(lines.add(std::string(static_cast<size_t>(i + 1), 'x'), kStart + i * kSecond), Word::usual);
}

TEST(LogTemplates, WhatComesTenTimesAsOftenIsTold) {
  LogTemplates lines;
  Ns at = kStart;
  for (; at < kStart + 10 * kMinute; at += 10 * kSecond) ASSERT_EQ(lines.add("a retry", at), Word::usual);
  int told = 0, count = 0;
  for (; at < kStart + 11 * kMinute; at += 500 * kMillisecond, ++count)
    told += lines.add("a retry", at) == Word::more_often;
  EXPECT_EQ(told, 1);
  // Five times as often is not.
  LogTemplates others;
  for (at = kStart; at < kStart + 10 * kMinute; at += 5 * kSecond)
    ASSERT_EQ(others.add("a retry", at), Word::usual);
  for (; at < kStart + 12 * kMinute; at += kSecond) ASSERT_EQ(others.add("a retry", at), Word::usual);
}

// Each line of its own kind: nothing is told but the first ones of each minute, and memory stays bounded.
TEST(LogTemplates, LinesThatAreOfNoKindsAreNoNews) {
  LogTemplates lines;
  int told = 0;
  for (int i = 0; i < 60'000; ++i) {
    std::string word;
    for (int rest = i; rest > 0; rest /= 26) word += static_cast<char>('a' + rest % 26);
    told += lines.add(word, kStart + i * 10 * kMillisecond) == Word::is_new;
  }
  EXPECT_LE(told, 9 * LogTemplates::kMostNew);
}

}  // namespace
}  // namespace spotter::respond
