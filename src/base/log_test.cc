#include "base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "base/time.h"

namespace spotter {
namespace {

// What `act` writes to standard error.
template <class F>
std::string logged(F act) {
  testing::internal::CaptureStderr();
  act();
  return testing::internal::GetCapturedStderr();
}

TEST(LogTest, OneLineWithTimeAndLevel) {
  const std::string line = logged([] { log(Level::warning, "{} of {}", 1, 2); });
  EXPECT_TRUE(line.ends_with(" warning 1 of 2\n")) << line;
  EXPECT_EQ(line.substr(10, 1), "T") << line;
  EXPECT_EQ(logged([] { log_line(Level::info, "{} %v"); }).substr(29), " info {} %v\n");
}

TEST(LogTest, AsJson) {
  const std::string line = log_text(Level::error, "say \"hi\"\n", LogFormat::json, false);
  EXPECT_TRUE(line.starts_with("{\"time\":\"20")) << line;
  EXPECT_TRUE(line.ends_with("\",\"level\":\"error\",\"message\":\"say \\\"hi\\\"\\n\"}\n")) << line;
}

TEST(LogTest, ForAJournal) {
  EXPECT_EQ(log_text(Level::debug, "x", LogFormat::text, true), "<7>x\n");
  EXPECT_EQ(log_text(Level::info, "x", LogFormat::text, true), "<6>x\n");
  EXPECT_EQ(log_text(Level::warning, "x", LogFormat::text, true), "<4>x\n");
  EXPECT_EQ(log_text(Level::error, "x", LogFormat::text, true), "<3>x\n");
  EXPECT_TRUE(log_text(Level::info, "x", LogFormat::json, true).starts_with("<6>{\"time\""));
}

TEST(LogTest, LevelsBelowTheLeastAreLeftOut) {
  const auto each = [] {
    for (const Level l : {Level::debug, Level::info, Level::warning, Level::error}) log_line(l, "x");
  };
  const auto lines = [&](Level least) {
    set_log_level(least);
    const std::string text = logged(each);
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines(Level::debug), 4);
  EXPECT_EQ(lines(Level::warning), 2);
  EXPECT_EQ(lines(Level::error), 1);
  EXPECT_EQ(lines(Level::info), 3);
}

TEST(LogTest, LinesThatCannotBeWrittenAreCountedAndTold) {
  const i64 before = log_losses().lines;
  const int kept = dup(STDERR_FILENO), full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(dup2(full, STDERR_FILENO), 0);
  for (int line = 0; line < 3; ++line) log_line(Level::info, "nowhere");
  const LogLosses lost = log_losses();
  dup2(kept, STDERR_FILENO);
  close(kept), close(full);
  EXPECT_EQ(lost.lines - before, 3);
  EXPECT_NE(lost.last_error.find("space"), lost.last_error.npos) << lost.last_error;
  const std::string text = logged([] { log_line(Level::info, "again"), log_line(Level::info, "and again"); });
  EXPECT_NE(text.find(" warning 3 lines of the log could not be written\n"), text.npos) << text;
  EXPECT_TRUE(text.ends_with(" info and again\n")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
  EXPECT_EQ(log_losses().lines - before, 3);
  EXPECT_EQ(log_losses().last_error, "");
}

TEST(LogTest, WhatIsLeftOfATornLineIsALineOfItsOwn) {
  constexpr rlim_t kRoom = 10;
  rlimit usual;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &usual), 0);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  const std::string text = logged([&] {
    const rlimit small{kRoom, usual.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    log_line(Level::info, "torn");
    setrlimit(RLIMIT_FSIZE, &usual);
    log_line(Level::info, "whole");
  });
  std::signal(SIGXFSZ, old);
  ASSERT_GT(text.size(), kRoom + 1);
  EXPECT_EQ(text[kRoom], '\n') << text;
  EXPECT_NE(text.find(" warning 1 lines of the log could not be written\n"), text.npos) << text;
  EXPECT_TRUE(text.ends_with(" info whole\n")) << text;
}

TEST(LogLimitTest, OneLineInTenSeconds) {
  LogLimit limit;
  const auto at = [&](Ns now) { return logged([&] { limit.log(Level::info, now, "it came"); }); };
  EXPECT_TRUE(at(0).ends_with(" it came\n"));
  EXPECT_EQ(at(0), "");
  EXPECT_EQ(at(10 * kSecond - 1), "");
  EXPECT_TRUE(at(10 * kSecond).ends_with(" it came (and 2 like it that were not logged)\n"));
  EXPECT_EQ(at(11 * kSecond), "");
  EXPECT_TRUE(at(40 * kSecond).ends_with("(and 1 like it that were not logged)\n"));
  EXPECT_TRUE(at(60 * kSecond).ends_with(" it came\n"));
}

}  // namespace
}  // namespace spotter
