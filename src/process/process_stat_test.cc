#include "process/process_stat.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace spotter::process {
namespace {

TEST(ProcessStat, TheNameMayHoldAnything) {
  const auto stat =
      parse_stat("42 (a) b 1 2\n) S 7 42 7 0 -1 4194304 10 0 20 0 5 6 0 0 20 0 9 0 987654 1 300 3\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 7);
  EXPECT_EQ(stat->minor_faults, 10);
  EXPECT_EQ(stat->major_faults, 20);
  EXPECT_EQ(stat->user_ticks, 5);
  EXPECT_EQ(stat->system_ticks, 6);
  EXPECT_EQ(stat->threads, 9);
  EXPECT_EQ(stat->start_ticks, 987654);
  EXPECT_EQ(stat->resident_pages, 300);
}

TEST(ProcessStat, AnotherProgramAfterAnExec) {
  const auto program = [](const std::string& name, const std::string& stack) {
    return parse_stat("42 (" + name + ") S 7 42 7 0 -1 0 0 0 0 0 5 6 0 0 20 0 9 0 987 1 300 3 1 1 " + stack)
        ->program;
  };
  EXPECT_EQ(program("python", "140727391019936 0 0\n"), program("ray::train", "140727391019936 0 0\n"));
  EXPECT_NE(program("python", "140727391019936 0 0\n"), program("python", "140727391019937 0 0\n"));
  // Of a process whose memory is not ours, and of a text that ends early.
  EXPECT_NE(program("sh", "0 0 0\n"), program("python", "0 0 0\n"));
  EXPECT_EQ(program("sh", "0 0 0\n"), program("sh", ""));
  EXPECT_NE(program("sh", ""), 0U);
  EXPECT_EQ(parse_stat("42 (sh) Z 7 42 7 0 -1 0 0 0 0 0 5 6 0 0 20 0 9 0 987 0 0 3 0 0 0 0\n")->program, 0U);
}

TEST(ProcessStat, AZombieHasEnded) {
  const auto has_ended = [](const std::string& state, int threads) {
    return parse_stat(fmt::format("42 (sh) {} 7 42 7 0 -1 0 0 0 0 0 5 6 0 0 20 0 {} 0 987 0 0 3 0 0 0 0\n",
                                  state, threads))
        ->has_ended;
  };
  EXPECT_TRUE(has_ended("Z", 1));
  EXPECT_TRUE(has_ended("X", 1));
  EXPECT_FALSE(has_ended("Z", 9)) << "its first thread has ended, the others run";
  for (const char* state : {"R", "S", "D", "T", "t", "I"}) EXPECT_FALSE(has_ended(state, 1)) << state;
}

TEST(ProcessStat, WhatTheKernelDoesNotWrite) {
  for (const char* text : {"", "42", "42 (a", "42 (a)", "42 (a) S 7 42", ")", ") \n "})
    EXPECT_FALSE(parse_stat(text)) << text;
  std::string text = "42 (a)";
  for (int i = 0; i < 22; ++i) text += " 99999999999999999999";
  EXPECT_EQ(parse_stat(text)->start_ticks, std::numeric_limits<i64>::max());
}

}  // namespace
}  // namespace spotter::process
