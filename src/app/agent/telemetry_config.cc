#include "app/agent/telemetry_config.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "app/agent/service_manager.h"
#include "app/metrics/metric_words.h"
#include "base/text/glob.h"
#include "base/text/quantity.h"
#include "base/text/suggestion.h"
#include "base/text/utf8.h"
#include "base/time.h"
#include "collect/list.h"

namespace spotter::app {
namespace {

constexpr Ns kLeastPeriod = 10 * kMillisecond, kMostPeriod = kHour;

void want(std::vector<collect::Wanted>& all, const collect::Wanted& wanted) {
  std::erase_if(all, [&](const collect::Wanted& other) { return other.kind == wanted.kind; });
  all.push_back(wanted);
}

Result<Ns> parse_period(const std::string& word) {
  TRY_ASSIGN(const Ns period, parse_duration_ns(word));
  if (period < kLeastPeriod || period > kMostPeriod)
    return fail(Code::invalid, "a period is 10 ms to 1 h, not {}", to_printable(word));
  return period;
}

bool stands_for_a_table(const std::string& pattern) {
  return std::ranges::any_of(collect::all_collectors(), [&](const collect::CollectorKind* kind) {
    return std::ranges::any_of(
        kind->tables, [&](const table::TableKind& table) { return matches_glob(pattern, table.name); });
  });
}

}  // namespace

Result<std::vector<collect::Wanted>> parse_collectors(const std::string& words) {
  std::vector<collect::Wanted> all;
  if (words == "off") return all;
  const std::vector<std::string> list = split_commas(words);
  if (list.empty()) return fail(Code::invalid, "no collector is named; \"off\" measures nothing");
  if (list.front().starts_with('-')) all = agent::usual_collectors();
  for (const std::string& word : list) {
    const bool is_left_out = word.starts_with('-');
    const size_t colon = std::min(word.find(':'), word.size());
    const std::string name = word.substr(is_left_out, colon - is_left_out);
    std::optional<Ns> period;
    if (colon < word.size()) {
      TRY_ASSIGN(period, parse_period(word.substr(colon + 1)));
    }
    if (is_left_out && (name == "all" || period))
      return fail(Code::invalid, "\"{}\" is not like -NAME; \"off\" measures nothing", to_printable(word));
    if (name == "all") {
      for (collect::Wanted wanted : agent::usual_collectors()) {
        wanted.period = period.value_or(wanted.period);
        want(all, wanted);
      }
      continue;
    }
    const collect::CollectorKind* kind = collect::find_collector(name);
    if (!kind)
      return fail(Code::invalid, "there is no collector \"{}\"{}", to_printable(name),
                  did_you_mean(name, collector_words(), "; `spotter metrics --list` names them"));
    if (is_left_out)
      std::erase_if(all, [&](const collect::Wanted& wanted) { return wanted.kind == kind; });
    else
      want(all, {kind, period.value_or(kind->period)});
  }
  if (all.empty())
    return fail(Code::invalid, "\"{}\" leaves no collector; \"off\" measures nothing", to_printable(words));
  return all;
}

Result<std::optional<store::HistoryOptions>> parse_history(const std::string& word) {
  if (word == "off") return std::optional<store::HistoryOptions>();
  if (!word.starts_with('/'))
    return fail(Code::invalid, "\"{}\" is neither an absolute path nor off", to_printable(word));
  store::HistoryOptions options;
  options.path = word;
  return std::optional(options);
}

std::string default_history() {
  if (geteuid() == 0) return "/var/lib/spotter/history.db";
  if (const std::string folder = service_state_folder(); !folder.empty()) return folder + "/history.db";
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  if (state && *state == '/') return fmt::format("{}/spotter/history.db", state);
  return home && *home == '/' ? fmt::format("{}/.local/state/spotter/history.db", home) : std::string();
}

Result<agent::SinkOptions> checked_sink(const Settings& said) {
  agent::SinkOptions options;
  options.settings = said;
  const auto kind = options.settings.extract("kind");
  if (!kind) return fail(Code::invalid, "a sink needs a \"kind\"");
  options.kind = kind.mapped();
  TRY(sink::check(options.kind, options.settings));
  if (const auto tables = options.settings.find("tables"); tables != options.settings.end()) {
    for (const std::string& pattern : split_commas(tables->second)) {
      if (!stands_for_a_table(pattern))
        return fail(
            Code::invalid,
            "tables: there is no table \"{}\"; a metric's name begins with that of its table, and docs/metrics.md has all",
            to_printable(pattern));
    }
  }
  return options;
}

}  // namespace spotter::app
