#include "agent/capture_request.h"

#include "base/utf8.h"
#include "kineto/config_keys.h"
#include "wire/json.h"

namespace spotter::agent {
namespace {

namespace json = boost::json;

constexpr i64 kMostMs = i64{24} * 3600 * 1000;
constexpr i64 kMostCount = 1'000'000'000;
constexpr std::string_view kMembers[] = {
    "pids",       "ranks",   "job",       "all",           "output",      "duration_ms",
    "iterations", "roundup", "warmup_ms", "start_time_ms", "start_in_ms", "deadline_ms",
    "shapes",     "stacks",  "memory",    "flops",         "modules",     "activities"};

Result<i64> number(const json::object& object, std::string_view name, i64 otherwise, i64 most) {
  TRY_ASSIGN(const auto value, wire::integer_of(object, name));
  if (value && (*value < 0 || *value > most))
    return fail(Code::invalid, "\"{}\" must be 0 to {}", name, most);
  return value.value_or(otherwise);
}

Result<void> read_switches(const json::object& object, kineto::Config& config) {
  const std::pair<std::string_view, bool*> switches[] = {{"shapes", &config.shapes},
                                                         {"stacks", &config.stacks},
                                                         {"memory", &config.memory},
                                                         {"flops", &config.flops},
                                                         {"modules", &config.modules}};
  for (const auto& [name, to] : switches) {
    TRY_ASSIGN(const auto value, wire::flag_of(object, name));
    *to = value.value_or(false);
  }
  return {};
}

Result<void> read_times(const json::object& object, capture::Request& request, i64 now_ms) {
  kineto::Config& c = request.config;
  TRY_ASSIGN(c.duration_ms, number(object, "duration_ms", c.duration_ms, kMostMs));
  TRY_ASSIGN(c.warmup_ms, number(object, "warmup_ms", c.warmup_ms, kMostMs));
  TRY_ASSIGN(c.iterations, number(object, "iterations", 0, kMostCount));
  TRY_ASSIGN(c.roundup, number(object, "roundup", 0, kMostCount));
  if (c.duration_ms == 0) return fail(Code::invalid, "\"duration_ms\" must be more than 0");
  if (c.warmup_ms % 1000 != 0) return fail(Code::invalid, "\"warmup_ms\" must be whole seconds");
  if (c.iterations == 0 && c.roundup > 0) return fail(Code::invalid, "\"roundup\" goes with \"iterations\"");
  // A start at an iteration takes a number to round up to; 1 is the very next one.
  if (c.iterations > 0) {
    c.start_iteration = 0;
    c.roundup = std::max<i64>(c.roundup, 1);
  }
  TRY_ASSIGN(const i64 start_in, number(object, "start_in_ms", 0, kMostMs));
  TRY_ASSIGN(c.start_time_ms, number(object, "start_time_ms", 0, i64{1} << 60));
  if (start_in > 0 && c.start_time_ms > 0)
    return fail(Code::invalid, "\"start_in_ms\" and \"start_time_ms\" exclude each other");
  if (start_in > 0) c.start_time_ms = now_ms + start_in;
  TRY_ASSIGN(const i64 deadline, number(object, "deadline_ms", 0, kMostMs));
  request.deadline = deadline * 1'000'000;
  return {};
}

}  // namespace

Result<CaptureRequest> read_capture_request(std::string_view body, i64 now_unix_ms) {
  json::object object;
  if (!body.empty()) {
    TRY_ASSIGN(object, wire::read_object(body));
  }
  TRY(wire::check_names(object, kMembers, "a capture"));
  CaptureRequest wanted;
  TRY_ASSIGN(const auto pids, wire::integers_of(object, "pids"));
  TRY_ASSIGN(const auto ranks, wire::integers_of(object, "ranks"));
  TRY_ASSIGN(const auto job, wire::text_of(object, "job"));
  TRY_ASSIGN(const auto all, wire::flag_of(object, "all"));
  TRY_ASSIGN(const auto output, wire::text_of(object, "output"));
  TRY_ASSIGN(const auto activities, wire::texts_of(object, "activities"));
  wanted.target = {pids.value_or(std::vector<i64>()), ranks.value_or(std::vector<i64>()), job.value_or(""),
                   all.value_or(false)};
  wanted.request.output = output.value_or("");
  for (const std::string& type : activities.value_or(std::vector<std::string>())) {
    const std::string lower = ascii_lower(type);
    if (!kineto::is_activity_type(lower))
      return fail(Code::invalid, "\"{}\" is no activity type", to_printable(type));
    wanted.request.config.activity_types.push_back(lower);
  }
  TRY(read_switches(object, wanted.request.config));
  TRY(read_times(object, wanted.request, now_unix_ms));
  return wanted;
}

}  // namespace spotter::agent
