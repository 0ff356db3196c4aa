#include "kineto/config.h"

#include <algorithm>
#include <limits>

#include "base/text/quantity.h"
#include "base/text/utf8.h"
#include "kineto/config_keys.h"
#include "kineto/message.h"

namespace spotter::kineto {
namespace {

constexpr i64 kLeadMs = 2000;           // what the client adds to the warm-up where no start time is given
constexpr i64 kOldestStartMs = 10'000;  // a start further back than this is a bad line

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<bool> boolean(std::string_view text) {
  static constexpr std::string_view kNo[] = {"n", "no", "f", "false", "0"},
                                    kYes[] = {"y", "yes", "t", "true", "1"};
  const std::string lower = ascii_lower(text);
  if (std::find(std::begin(kYes), std::end(kYes), lower) != std::end(kYes)) return true;
  if (std::find(std::begin(kNo), std::end(kNo), lower) != std::end(kNo)) return false;
  return std::nullopt;
}

std::optional<i64> integer(std::string_view text, i64 most) {
  const auto value = whole_number(text);
  return value && *value <= most ? value : std::nullopt;
}

// One line of a text while it is read.
struct Line {
  size_t number;
  std::string_view key, value;

  tl::unexpected<Error> bad(std::string_view what) const {
    return fail(Code::invalid, "line {}: {}={} {}", number, to_printable(key), to_printable(value), what);
  }
};

// What keys do that is not a value of Config.
struct Switches {
  bool enabled = true;
  bool mentions_trace = false;
};

Result<std::vector<std::string>> activity_types(const Line& line) {
  std::vector<std::string> types;
  for (size_t at = 0; at <= line.value.size();) {
    const size_t comma = std::min(line.value.find(',', at), line.value.size());
    const std::string name = ascii_lower(trimmed(line.value.substr(at, comma - at)));
    at = comma + 1;
    if (name.empty()) continue;
    if (!is_activity_type(name))
      return line.bad(fmt::format("names no activity type: {}", to_printable(name)));
    types.push_back(name);
  }
  return types;
}

struct Value {
  bool is_true = false;
  i64 number = 0;
  std::vector<std::string> list;
};

Result<Value> value_of(const Line& line, KeyType type) {
  Value value;
  switch (type) {
    case KeyType::boolean: {
      const std::optional<bool> truth = boolean(line.value);
      if (!truth) return line.bad("is neither true nor false");
      value.is_true = *truth;
      break;
    }
    case KeyType::int32:
    case KeyType::int64: {
      const i64 most =
          type == KeyType::int32 ? std::numeric_limits<i32>::max() : std::numeric_limits<i64>::max();
      const std::optional<i64> number = integer(line.value, most);
      if (!number) return line.bad(fmt::format("is no whole number from 0 to {}", most));
      value.number = *number;
      break;
    }
    case KeyType::activities: {
      TRY_ASSIGN(value.list, activity_types(line));
      break;
    }
    case KeyType::text:
      break;
  }
  return value;
}

void apply(const Line& line, const Value& value, Config& c, Switches& switches) {
  const std::string_view key = line.key;
  const auto is = [&](std::string_view name) { return key == name; };
  if (is("ACTIVITIES_ENABLED")) switches.enabled = value.is_true;
  if (is("ACTIVITY_TYPES")) c.activity_types = value.list;
  if (is("ACTIVITIES_LOG_FILE")) c.log_file = line.value;
  if (is("ACTIVITIES_DURATION_SECS")) c.duration_ms = value.number * 1000;
  if (is("ACTIVITIES_DURATION_MSECS")) c.duration_ms = value.number;
  if (is("ACTIVITIES_ITERATIONS")) c.iterations = value.number;
  if (is("ACTIVITIES_WARMUP_PERIOD_SECS")) c.warmup_ms = value.number * 1000;
  if (is("ACTIVITIES_WARMUP_ITERATIONS")) c.warmup_iterations = value.number;
  if (is("PROFILE_START_TIME")) c.start_time_ms = value.number;
  if (is("PROFILE_START_ITERATION")) c.start_iteration = value.number;
  if (is("PROFILE_START_ITERATION_ROUNDUP")) c.roundup = value.number;
  if (is("PROFILE_REPORT_INPUT_SHAPES") || is("CLIENT_INTERFACE_ENABLE_OP_INPUTS_COLLECTION"))
    c.shapes = value.is_true;
  if (is("PROFILE_PROFILE_MEMORY")) c.memory = value.is_true;
  if (is("PROFILE_WITH_STACK") || is("PYTHON_STACK_TRACE")) c.stacks = value.is_true;
  if (is("PROFILE_WITH_FLOPS")) c.flops = value.is_true;
  if (is("PROFILE_WITH_MODULES")) c.modules = value.is_true;
  if (is("PROFILE_MEMORY")) c.memory_snapshot = value.is_true;
  if (is("REQUEST_TRACE_ID")) c.trace_id = line.value;
  if (is("ACTIVITIES_LOG_FILE") || is("ACTIVITIES_ITERATIONS") || key.starts_with("ACTIVITIES_DURATION_"))
    switches.enabled = true;
}

Result<void> read_line(Line line, Config& config, Switches& switches, Notes& notes) {
  if (std::any_of(line.value.begin(), line.value.end(),
                  [](char c) { return static_cast<u8>(c) < ' ' || c == '\x7F'; }))
    return line.bad("has a control character (lines must end in \\n alone)");
  const Key* key = find_key(line.key);
  if (!key) {
    notes.add("unknown_key", Severity::repair,
              fmt::format("{} is no key that PyTorch knows; it will be ignored", to_printable(line.key)));
    return {};
  }
  TRY_ASSIGN(const Value value, value_of(line, key->type));
  if (key->remark)
    notes.add("key_without_effect", Severity::repair, fmt::format("{} {}", key->name, key->remark));
  apply(line, value, config, switches);
  return {};
}

// What the client makes of values that do not go together.
Result<void> settle(Config& c, const Switches& switches, Notes& notes) {
  if (!switches.enabled)
    return fail(Code::invalid,
                "ACTIVITIES_ENABLED is false and nothing turns it on again: there would be no trace");
  if (c.roundup > 0 && !c.start_iteration) c.start_iteration = 0;
  if (c.iterations > 0 && !c.start_iteration)
    notes.add(
        "iterations_ignored", Severity::repair,
        "ACTIVITIES_ITERATIONS counts only with PROFILE_START_ITERATION or _ROUNDUP; the trace will go by time");
  if (c.iterations == 0) c.start_iteration.reset();
  if (c.memory)
    notes.add("memory_events", Severity::info,
              "PROFILE_PROFILE_MEMORY wrote no memory events on demand as of PyTorch 2.13");
  if (c.flops)
    notes.add("flops", Severity::info, "PROFILE_WITH_FLOPS is computed, but not written to the trace");
  if (c.memory_snapshot)
    notes.add("memory_snapshot", Severity::repair,
              "PROFILE_MEMORY leaves a thread of the process spinning until it ends");
  return {};
}

}  // namespace

Result<Config> read_config(std::string_view text, Notes& notes) {
  if (text.size() > kMaxConfigBytes)
    return fail(Code::invalid, "the config has {} bytes; {} at most", text.size(), kMaxConfigBytes);
  Config config;
  Switches switches;
  size_t number = 0;
  for (size_t at = 0; at <= text.size(); ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const size_t equal = line.find('=');
    if (equal == line.npos || line.find('=', equal + 1) != line.npos)
      return fail(Code::invalid, "line {}: \"{}\" must have one '='; a value cannot contain '=' or '#'",
                  number + 1, to_printable(line));
    TRY(read_line({number + 1, trimmed(line.substr(0, equal)), trimmed(line.substr(equal + 1))}, config,
                  switches, notes));
  }
  TRY(settle(config, switches, notes));
  return config;
}

std::string config_text(const Config& c) {
  std::string text;
  const auto line = [&](std::string_view key, const auto& value) {
    text += fmt::format("{}={}\n", key, value);
  };
  if (!c.log_file.empty()) line("ACTIVITIES_LOG_FILE", c.log_file);
  if (!c.activity_types.empty()) line("ACTIVITY_TYPES", fmt::format("{}", fmt::join(c.activity_types, ",")));
  if (c.duration_ms <= std::numeric_limits<i32>::max())
    line("ACTIVITIES_DURATION_MSECS", c.duration_ms);
  else
    line("ACTIVITIES_DURATION_SECS", c.duration_ms / 1000);
  line("ACTIVITIES_WARMUP_PERIOD_SECS", c.warmup_ms / 1000);
  if (c.start_time_ms > 0) line("PROFILE_START_TIME", c.start_time_ms);
  if (c.iterations > 0) line("ACTIVITIES_ITERATIONS", c.iterations);
  if (c.warmup_iterations > 0) line("ACTIVITIES_WARMUP_ITERATIONS", c.warmup_iterations);
  if (c.start_iteration) line("PROFILE_START_ITERATION", *c.start_iteration);
  if (c.roundup > 0) line("PROFILE_START_ITERATION_ROUNDUP", c.roundup);
  if (c.shapes) line("PROFILE_REPORT_INPUT_SHAPES", "true");
  if (c.memory) line("PROFILE_PROFILE_MEMORY", "true");
  if (c.stacks) line("PROFILE_WITH_STACK", "true");
  if (c.flops) line("PROFILE_WITH_FLOPS", "true");
  if (c.modules) line("PROFILE_WITH_MODULES", "true");
  if (c.memory_snapshot) line("PROFILE_MEMORY", "true");
  if (!c.trace_id.empty()) line("REQUEST_TRACE_ID", c.trace_id);
  return text;
}

Result<i64> start_of(const Config& config, i64 now_ms) {
  if (config.start_time_ms == 0) return now_ms + config.warmup_ms + kLeadMs;
  const i64 ahead = config.start_time_ms - now_ms;
  if (ahead < -kOldestStartMs)
    return fail(Code::invalid, "PROFILE_START_TIME is {:.1f} s in the past",
                static_cast<double>(-ahead) / 1000);
  if (ahead < config.warmup_ms)
    return fail(
        Code::invalid,
        "PROFILE_START_TIME is {:.1f} s ahead, which leaves no time for the warm-up of {} s; the process "
        "would drop the request",
        static_cast<double>(ahead) / 1000, config.warmup_ms / 1000);
  return config.start_time_ms;
}

std::string output_path(const std::string& log_file, i64 pid) {
  if (log_file.empty()) return fmt::format("/tmp/libkineto_activities_{}.json", pid);
  std::string path = log_file;
  for (const std::string_view end : {".pt.trace.json", ".json"}) {
    if (const size_t at = path.find(end); at != path.npos) return path.insert(at, fmt::format("_{}", pid));
  }
  return path;
}

}  // namespace spotter::kineto
