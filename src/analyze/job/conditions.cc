#include "analyze/job/conditions.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyze/list.h"
#include "analyze/range_text.h"
#include "base/text/utf8.h"
#include "trace/device_work.h"
#include "trace/steps.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"fact", Type::text, Unit::none, Role::key, "What is told."},
    {"value", Type::text, Unit::none, Role::value, "What the trace says."},
};

constexpr const char* kStepsFact = "steps";

constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr size_t kMostBytes = 200;  // of a value

using Facts = std::map<std::string, std::string>;

std::string text_of(const Device& device) {
  std::string more;
  if (device.memory_bytes > 0)
    more = fmt::format("{:.1f} GiB", static_cast<double>(device.memory_bytes) / kGiB);
  if (device.sm_count > 0)
    more += fmt::format("{}{} multiprocessors", more.empty() ? "" : ", ", device.sm_count);
  const std::string& name = device.name.empty() ? "without a name" : device.name;
  return more.empty() ? name : fmt::format("{} ({})", name, more);
}

// Those that have work, each kind once.
std::string used_devices(const Trace& trace) {
  std::set<std::string> kinds;
  for (const Device& device : trace.info().devices) {
    const auto is_its = [&](const trace::Stream& stream) { return stream.device == device.id; };
    if (std::ranges::any_of(trace.device_work().streams, is_its)) kinds.insert(text_of(device));
  }
  return fmt::format("{}", fmt::join(kinds, ", "));
}

// "3 (2-4)"
std::string text_of(const trace::Steps& steps) {
  std::set<i64> numbers;
  for (const trace::Step& step : steps.steps) numbers.insert(step.number);
  return numbers.empty() ? "0" : fmt::format("{} ({})", steps.steps.size(), range_text(numbers));
}

// Versions, and what the profiler was told to record beside times.
bool is_condition(std::string_view key) {
  constexpr std::string_view kSettings[] = {"record_shapes", "profile_memory", "with_stack", "with_modules",
                                            "with_flops"};
  return ascii_lower(key).ends_with("version") || std::ranges::find(kSettings, key) != std::end(kSettings);
}

// Of a number, a word or a text; empty of anything else.
std::string scalar(std::string_view raw) {
  if (raw.empty() || raw.front() == '{' || raw.front() == '[') return {};
  if (raw.size() >= 2 && raw.front() == '"' && raw.back() == '"') raw = raw.substr(1, raw.size() - 2);
  return std::string(raw.substr(0, kMostBytes));
}

Facts facts_of(const Trace& trace) {
  const TraceInfo& info = trace.info();
  Facts facts;
  for (const auto& [key, raw] : info.metadata)
    if (is_condition(key)) facts[key] = scalar(raw);
  facts["device"] = used_devices(trace);
  if (info.world_size) facts["world_size"] = std::to_string(*info.world_size);
  facts["backend"] = info.backend;
  facts["nccl_version"] = info.nccl_version;
  facts[kStepsFact] = text_of(trace.steps());
  if (!trace.steps().steps.empty()) facts["step_mark"] = trace.steps().mark_name;
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kConditions.name, std::span(kColumns).subspan(1));
  for (const auto& [fact, value] : facts_of(trace))
    table.append({std::string_view(fact), std::string_view(value)});
  return table;
}

using Values = std::map<std::string, std::set<std::string>>;  // of each fact, of all traces

Values values_of(const Table& conditions) {
  Values values;
  for (size_t row = 0; row < conditions.rows(); ++row)
    values[std::string(conditions.text(row, conditions.column("fact")))].emplace(
        conditions.text(row, conditions.column("value")));
  return values;
}

std::set<i64> ranks_of(const Table& conditions) {
  std::set<i64> ranks;
  for (size_t row = 0; row < conditions.rows(); ++row)
    if (const Value rank = conditions.at(row, 0); !is_null(rank)) ranks.insert(std::get<i64>(rank));
  return ranks;
}

// A few of them.
std::string text_of(const std::set<std::string>& values) {
  constexpr size_t kMost = 3;
  std::string text;
  size_t shown = 0;
  for (const std::string& value : values)
    if (shown < kMost) text += (shown++ == 0 ? "" : " / ") + value;
  return values.size() > kMost ? fmt::format("{} / {} others", text, values.size() - kMost) : text;
}

void add_difference(std::string_view what, const std::string& before, const std::string& after,
                    Notes& notes) {
  std::string advice;
  if (what == "rank") advice = "; --ranks chooses the same of both";
  if (what == kStepsFact) advice = "; --steps chooses the same of both";
  notes.add(fmt::format("different_{}", what), Severity::info,
            fmt::format("the jobs differ in {}: {} and {}{}", what, before, after, advice));
}

}  // namespace

Notes differing_conditions(const Table& before, const Table& after) {
  Notes notes;
  const std::set<i64> ranks[] = {ranks_of(before), ranks_of(after)};
  if (ranks[0] != ranks[1] && !ranks[0].empty() && !ranks[1].empty())
    add_difference("rank", range_text(ranks[0]), range_text(ranks[1]), notes);
  Values values[] = {values_of(before), values_of(after)};
  std::set<std::string> facts, told_by_one;
  for (const Values& side : values)
    for (const auto& [fact, all] : side) facts.insert(fact);
  for (const std::string& fact : facts) {
    const auto &first = values[0][fact], &second = values[1][fact];
    if (first.empty() || second.empty())
      told_by_one.insert(fact);
    else if (first != second)
      add_difference(fact, text_of(first), text_of(second), notes);
  }
  if (!told_by_one.empty())
    notes.add("told_by_one", Severity::info,
              fmt::format("only one of the jobs tells, and so they were not compared in: {}",
                          fmt::join(told_by_one, ", ")));
  return notes;
}

const Analysis kConditions = {
    .name = "conditions",
    .summary =
        "What each trace was recorded with: devices, job size, versions, settings of the profiler, steps.",
    .doc =
        "One row per fact that the file tells: device (those that have work, with memory and multiprocessors), world_size, "
        "backend and nccl_version of distributedInfo, steps (how many, and their numbers) and step_mark, each member of the file "
        "whose name ends in version, and what the profiler was told to record (record_shapes, profile_memory, with_stack, "
        "with_modules, with_flops), which takes time itself. What a file does not tell has no row. `spotter diff` warns where "
        "two jobs differ in it.",
    .params = {},
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs | trace::kStepArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
