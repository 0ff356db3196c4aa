// The log of a daemon: one line each on standard error, with time and level. Any thread. What a peer can
// cause as often as it likes is logged through a LogLimit.
//
// Lines that cannot be written, as on a full disk, are counted, and the first that can says how many.
//
// A journal of systemd that standard error goes to (JOURNAL_STREAM) gets the level as its priority
// (sd-daemon(3)), and no time, which it has itself.
#pragma once
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "base/types.h"

namespace spotter {

enum class Level : u8 { debug, info, warning, error };

enum class LogFormat : u8 { text, json };  // json: {"time","level","message"}, a line each

void set_log_level(Level least);
void set_log_format(LogFormat format);
// A line as it is written.
std::string log_text(Level level, std::string_view line, LogFormat format, bool is_for_journal);
void log_line(Level level, std::string_view line);

struct LogLosses {
  i64 lines = 0;           // that could not be written, or not whole
  std::string last_error;  // empty: the last line was written
};
LogLosses log_losses();

template <class... A>
void log(Level level, fmt::format_string<A...> format, A&&... args) {
  log_line(level, fmt::format(format, std::forward<A>(args)...));
}

// At most one line in ten seconds; the next one says how many were left out. One thread.
class LogLimit {
 public:
  static constexpr Ns kPeriod = 10 * kSecond;
  void log(Level level, Ns now, std::string_view line);
  // For a line that goes elsewhere: how many were left out before it; nothing: it is to be left out, too.
  std::optional<i64> pass(Ns now);
  i64 left_out() const { return left_out_; }  // since the last line

 private:
  Ns last_ = 0;
  bool first_ = true;
  i64 left_out_ = 0;
};

}  // namespace spotter
