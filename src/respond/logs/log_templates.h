// LogTemplates: the lines of one job's logs without what differs from one of a kind to the next (numbers,
// paths, quoted text), so that a line of a kind that never was, or that comes far more often than it did,
// stands out. One thread; bounded memory.
#pragma once
#include <string_view>
#include <unordered_map>

#include "base/time.h"
#include "base/types.h"

namespace spotter::respond {

class LogTemplates {
 public:
  static constexpr Ns kLearning = 2 * kMinute;  // after the first line: until then all lines are new ones
  static constexpr size_t kMost = 512;          // of those that come least, the one seen longest ago goes
  static constexpr Ns kWindow = 30 * kSecond;
  static constexpr double kOften = 10;        // times as often as before
  static constexpr i64 kLeast = 10;           // lines in a window
  static constexpr i64 kMostNew = 20;         // a minute: where more are new, lines are not of kinds
  static constexpr Ns kAgain = 10 * kMinute;  // one kind is told of

  enum class Word : u8 { usual, is_new, more_often };
  Word add(std::string_view line, Ns now);

  // The kind of a line.
  static u64 kind_of(std::string_view line);

 private:
  struct Kind {
    Ns first = 0, last = 0, told = 0, window = 0;
    i64 before = 0, in_window = 0;  // lines: before the window, in it
  };
  void forget_one();

  std::unordered_map<u64, Kind> kinds_;
  Ns began_ = 0, minute_ = 0;
  i64 new_in_minute_ = 0;
};

}  // namespace spotter::respond
