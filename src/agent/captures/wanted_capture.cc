#include "agent/captures/wanted_capture.h"

#include <algorithm>

#include "base/text/utf8.h"
#include "kineto/config_keys.h"

namespace spotter::agent {
namespace {

constexpr i64 kMostMs = i64{24} * 3600 * 1000;
constexpr i64 kMostCount = 1'000'000'000;

Result<i64> within_limits(const std::optional<i64>& value, const char* name, i64 otherwise, i64 most) {
  if (value && (*value < 0 || *value > most))
    return fail(Code::invalid, "\"{}\" must be 0 to {}", name, most);
  return value.value_or(otherwise);
}

Result<void> set_times(const wire::CaptureRequest& asked, capture::Request& request, i64 now_ms) {
  kineto::Config& c = request.config;
  TRY_ASSIGN(c.duration_ms, within_limits(asked.duration_ms, "duration_ms", c.duration_ms, kMostMs));
  TRY_ASSIGN(c.warmup_ms, within_limits(asked.warmup_ms, "warmup_ms", c.warmup_ms, kMostMs));
  TRY_ASSIGN(c.iterations, within_limits(asked.iterations, "iterations", 0, kMostCount));
  TRY_ASSIGN(c.roundup, within_limits(asked.roundup, "roundup", 0, kMostCount));
  if (c.duration_ms == 0) return fail(Code::invalid, "\"duration_ms\" must be more than 0");
  if (c.warmup_ms % 1000 != 0) return fail(Code::invalid, "\"warmup_ms\" must be whole seconds");
  if (c.iterations == 0 && c.roundup > 0) return fail(Code::invalid, "\"roundup\" goes with \"iterations\"");
  // A start at an iteration takes a number to round up to; 1 is the very next one.
  if (c.iterations > 0) {
    c.start_iteration = 0;
    c.roundup = std::max<i64>(c.roundup, 1);
  }
  TRY_ASSIGN(const i64 start_in, within_limits(asked.start_in_ms, "start_in_ms", 0, kMostMs));
  TRY_ASSIGN(c.start_time_ms, within_limits(asked.start_time_ms, "start_time_ms", 0, i64{1} << 60));
  if (start_in > 0 && c.start_time_ms > 0)
    return fail(Code::invalid, "\"start_in_ms\" and \"start_time_ms\" exclude each other");
  if (start_in > 0) c.start_time_ms = now_ms + start_in;
  TRY_ASSIGN(const i64 deadline, within_limits(asked.deadline_ms, "deadline_ms", 0, kMostMs));
  request.deadline = deadline * 1'000'000;
  return {};
}

}  // namespace

Result<WantedCapture> wanted_capture(const wire::CaptureRequest& asked, i64 now_unix_ms) {
  WantedCapture wanted;
  wanted.target = {asked.pids, asked.ranks, asked.job, asked.all};
  wanted.request.output = asked.output;
  kineto::Config& config = wanted.request.config;
  for (const std::string& type : asked.activities) {
    const std::string lower = ascii_lower(type);
    if (!kineto::is_activity_type(lower))
      return fail(Code::invalid, "\"{}\" is no activity type", to_printable(type));
    config.activity_types.push_back(lower);
  }
  config.shapes = asked.shapes;
  config.stacks = asked.stacks;
  config.memory = asked.memory;
  config.flops = asked.flops;
  config.modules = asked.modules;
  TRY(set_times(asked, wanted.request, now_unix_ms));
  return wanted;
}

}  // namespace spotter::agent
