// The log of a daemon: one line each on standard error, with time and level. Any thread. What a peer can
// cause as often as it likes is logged through a LogLimit.
#pragma once
#include <fmt/format.h>

#include <string_view>

#include "base/time.h"
#include "base/types.h"

namespace spotter {

enum class Level : u8 { debug, info, warning, error };

void set_log_level(Level least);
void log_line(Level level, std::string_view line);

template <class... A>
void log(Level level, fmt::format_string<A...> format, A&&... args) {
  log_line(level, fmt::format(format, std::forward<A>(args)...));
}

// At most one line in ten seconds; the next one says how many were left out. One thread.
class LogLimit {
 public:
  static constexpr Ns kPeriod = 10 * kSecond;
  void log(Level level, Ns now, std::string_view line);
  i64 left_out() const { return left_out_; }  // since the last line

 private:
  Ns last_ = 0;
  bool first_ = true;
  i64 left_out_ = 0;
};

}  // namespace spotter
