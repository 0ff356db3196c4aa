// Pipe: messages as lines of standard input and output.
//
// Whoever has closed his end of the output has gone, also while nothing is written. Once the input is over,
// who reads nothing for two seconds has gone, too.
#pragma once
#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "base/time.h"

namespace spotter::mcp {

class Pipe {
 public:
  static constexpr Ns kLast = 2 * kSecond;  // for what runs when the input is over

  Pipe(int input, int output) : input_(input), output_(output) {}

  struct Line {
    std::string text;
    bool is_too_long = false;  // more than kMostMessage bytes: it is left out
  };
  // nullopt: it is over, or who reads the answers has gone. One thread.
  std::optional<Line> next();
  // As one line; nothing where nobody reads it. Any thread.
  void write(const std::string& text);
  bool is_gone() const { return is_gone_; }

 private:
  bool fill();
  bool wait_for_room() const;

  const int input_, output_;
  std::string buffer_;                                   // of next()
  std::atomic<bool> is_gone_ = false, is_over_ = false;  // who reads the output; the input
  std::mutex writing_;
};

}  // namespace spotter::mcp
