#include "base/log.h"

#define SPDLOG_FMT_EXTERNAL
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace spotter {
namespace {

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> the = [] {
    auto made = spdlog::stderr_logger_mt("spotter");
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return *the;
}

spdlog::level::level_enum of(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      break;
  }
  return spdlog::level::err;
}

}  // namespace

void set_log_level(Level least) { logger().set_level(of(least)); }
void log_line(Level level, std::string_view line) {
  logger().log(of(level), spdlog::string_view_t(line.data(), line.size()));
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
