#include "base/log.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/text/json_text.h"

namespace spotter {
namespace {

std::atomic<Level> least_level = Level::info;
std::atomic<LogFormat> log_format = LogFormat::text;

std::atomic<i64> lost_lines = 0, untold_lines = 0;
std::atomic<int> last_error = 0;    // of the last line; 0: it was written
std::atomic<bool> is_torn = false;  // the log ends in the beginning of a line

// As syslog(3) has them.
int priority_of(Level level) {
  constexpr int kPriorities[] = {7, 6, 4, 3};
  return kPriorities[static_cast<size_t>(level)];
}

bool goes_to_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");  // "device:inode" of what the service manager connected
  struct stat file;
  return stream && fstat(STDERR_FILENO, &file) == 0 &&
         fmt::format("{}:{}", file.st_dev, file.st_ino) == stream;
}

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

// In one call, so that lines of two threads do not mix. Whether all of it was written.
bool put(Level level, std::string_view line) {
  static const bool is_for_journal = goes_to_journal();
  const std::string whole = (is_torn ? "\n" : "") + log_text(level, line, log_format, is_for_journal);
  const ssize_t written = write(STDERR_FILENO, whole.data(), whole.size());
  last_error = written < 0 ? errno : written == std::ssize(whole) ? 0 : ENOSPC;
  if (written > 0) is_torn = last_error != 0;
  return last_error == 0;
}

}  // namespace

void set_log_level(Level least) { least_level = least; }
void set_log_format(LogFormat format) { log_format = format; }

std::string log_text(Level level, std::string_view line, LogFormat format, bool is_for_journal) {
  std::string text = is_for_journal ? fmt::format("<{}>", priority_of(level)) : std::string();
  if (format == LogFormat::json) {
    text += fmt::format("{{\"time\":\"{}\",\"level\":\"{}\",\"message\":", local_time(), name(level));
    append_json_text(text, line);
    return text + "}\n";
  }
  if (!is_for_journal) text += fmt::format("{} {} ", local_time(), name(level));
  return text + fmt::format("{}\n", line);
}

void log_line(Level level, std::string_view line) {
  if (level < least_level) return;
  const i64 untold = untold_lines.exchange(0);
  const bool is_told =
      untold == 0 || put(Level::warning, fmt::format("{} lines of the log could not be written", untold));
  if (!is_told) untold_lines += untold;
  if (is_told && put(level, line)) return;
  ++untold_lines;
  ++lost_lines;
}

LogLosses log_losses() {
  const int number = last_error;
  return {lost_lines, number == 0 ? std::string() : errno_text(number)};
}

std::optional<i64> LogLimit::pass(Ns now) {
  if (!first_ && now - last_ < kPeriod) {
    ++left_out_;
    return std::nullopt;
  }
  first_ = false;
  last_ = now;
  return std::exchange(left_out_, 0);
}

void LogLimit::log(Level level, Ns now, std::string_view line) {
  const std::optional<i64> left_out = pass(now);
  if (!left_out) return;
  log_line(level, *left_out == 0 ? std::string(line)
                                 : fmt::format("{} (and {} like it that were not logged)", line, *left_out));
}

}  // namespace spotter
