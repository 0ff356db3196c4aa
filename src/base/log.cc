#include "base/log.h"

#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

namespace spotter {
namespace {

std::atomic<Level> least_level = Level::info;

constexpr std::string_view name(Level level) {
  constexpr std::string_view kNames[] = {"debug", "info", "warning", "error"};
  return kNames[static_cast<size_t>(level)];
}

// 2026-01-31T13:05:09.123+01:00
std::string local_time() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm t{};
  localtime_r(&now.tv_sec, &t);
  const long minutes = std::abs(t.tm_gmtoff) / 60;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}{}{:02}:{:02}", t.tm_year + 1900, t.tm_mon + 1,
                     t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, now.tv_nsec / 1'000'000,
                     t.tm_gmtoff < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

}  // namespace

void set_log_level(Level least) { least_level = least; }

void log_line(Level level, std::string_view line) {
  if (level < least_level) return;
  const std::string whole = fmt::format("{} {} {}\n", local_time(), name(level), line);
  // One call, so that lines of two threads do not mix. There is nobody to tell of a log that cannot be
  // written.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, whole.data(), whole.size());
}

void LogLimit::log(Level level, Ns now, std::string_view line) {
  if (!first_ && now - last_ < kPeriod) {
    ++left_out_;
    return;
  }
  if (left_out_ > 0)
    log_line(level, fmt::format("{} (and {} like it that were not logged)", line, left_out_));
  else
    log_line(level, line);
  first_ = false;
  last_ = now;
  left_out_ = 0;
}

}  // namespace spotter
