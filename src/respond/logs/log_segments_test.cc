#include "respond/logs/log_segments.h"

#include <gtest/gtest.h>

#include <vector>

namespace spotter::respond {
namespace {

class Log {
 public:
  void add(std::string_view bytes) {
    segments_.add(bytes, [this](auto s) { lines.emplace_back(s); });
  }
  void finish() {
    segments_.finish([this](auto s) { lines.emplace_back(s); });
  }
  i64 cut() const { return segments_.cut(); }

  std::vector<std::string> lines;

 private:
  LogSegments segments_;
};

using Lines = std::vector<std::string>;

TEST(LogSegments, SayWhereTheyAre) {
  LogSegments segments;
  std::vector<std::pair<i64, i64>> places;
  const auto visit = [&](auto) { places.emplace_back(segments.begin(), segments.end()); };
  segments.add("one\n\r", visit);
  segments.add(std::string(5000, 'x'), visit);
  segments.add("\n\x1b[1mla", visit);
  segments.add("st", visit);
  segments.finish(visit);
  EXPECT_EQ(places, (std::vector<std::pair<i64, i64>>{{0, 4}, {5, 5006}, {5006, 5014}}));
}

TEST(LogSegments, EndAtLineFeedsAndCarriageReturns) {
  Log log;
  log.add("one\ntwo\r\nbar 1\rbar 2\r\n\nlast");
  EXPECT_EQ(log.lines, (Lines{"one", "two", "bar 1", "bar 2"}));
  log.finish();
  EXPECT_EQ(log.lines.back(), "last");
}

TEST(LogSegments, AreTheSameHoweverTheirBytesCome) {
  const std::string text = "step: 1\r\x1b[31mstep: 2\x1b[0m\nstep: 3\n";
  Log whole, single;
  whole.add(text);
  for (char c : text) single.add({&c, 1});
  EXPECT_EQ(whole.lines, (Lines{"step: 1", "step: 2", "step: 3"}));
  EXPECT_EQ(single.lines, whole.lines);
}

TEST(LogSegments, OfMoreThan4KiBTheBeginningIsKept) {
  Log log;
  for (int i = 0; i < 100; ++i) log.add(std::string(1000, 'x'));
  log.add("\nshort\n");
  log.add(std::string(4096, 'y') + "\n");
  ASSERT_EQ(log.lines.size(), 3);
  EXPECT_EQ(log.lines[0], std::string(4096, 'x'));
  EXPECT_EQ(log.lines[1], "short");
  EXPECT_EQ(log.lines[2].size(), 4096);
  EXPECT_EQ(log.cut(), 1);
  log.add(std::string(4097, 'z') + "\n");
  EXPECT_EQ(log.cut(), 2);
}

TEST(LogSegments, ColoursAreTakenOut) {
  EXPECT_EQ(without_colours("\x1b[1;32m[titan]\x1b[0m a\x1b[m"), "[titan] a");
  EXPECT_EQ(without_colours("\x1b[2K a \x1b[31"), "\x1b[2K a \x1b[31");  // no colour, and one that has no end
}

}  // namespace
}  // namespace spotter::respond
