#include "sink/list.h"

#include <algorithm>
#include <array>

#include "base/records.h"
#include "base/text/quantity.h"
#include "base/text/utf8.h"

namespace spotter::sink {
namespace {

constexpr auto kAll = addresses(SPOTTER_SINKS);

constexpr const char* kName = "name";
constexpr const char* kTables = "tables";
constexpr const char* kEvery = "every";
constexpr const char* kQueue = "queue";
constexpr const char* kQueueSize = "queue_size";

constexpr i64 kMostQueue = 1'000'000;

Result<void> is_count(const std::string& value) {
  TRY(parse_number(value, 1, kMostQueue));
  return {};
}

constexpr Setting kOfAll[] = {
    {kName, nullptr,
     "Its name in the status and the log; by default its kind. Of two of a kind one needs it.", nullptr},
    {kTables, "",
     "Names of the tables that it takes, by commas; * stands for any text. By default all; of a sink that keeps a "
     "series for ever, all but those whose rows come and go with processes.",
     nullptr},
    {kEvery, nullptr, "Time between two samples that it takes of a table; by default that of the kind.",
     is_duration},
    {kQueue, "600", "Batches that wait at most; the oldest goes first.", is_count},
    {kQueueSize, "8M", "Memory that what waits may take, about.", is_size},
};

// A kind, and settings that are checked, with what was missing.
struct Checked {
  const SinkKind& kind;
  Settings settings;
};

Result<Checked> complete(const std::string& name, Settings settings) {
  const SinkKind* const found = find_sink(name);
  if (!found) {
    std::string known;
    for (const SinkKind* k : kAll) known += (known.empty() ? "" : ", ") + std::string(k->name);
    return fail(Code::invalid, "there is no sink \"{}\"; there are {}", to_printable(name), known);
  }
  const SinkKind& kind = *found;
  for (const auto& [key, value] : settings) {
    const Setting* option = find_setting(kind.options, key);
    if (!option) option = find_setting(kOfAll, key);
    if (!option) {
      std::string known;
      for (const auto options : {kind.options, std::span<const Setting>(kOfAll)}) {
        for (const Setting& o : options) known += (known.empty() ? "" : ", ") + std::string(o.key);
      }
      return fail(Code::invalid, "the sink {} has no option {}; it has {}", kind.name, to_printable(key),
                  known);
    }
    if (!option->check) continue;
    if (const auto checked = option->check(value); !checked)
      return within(checked.error(), fmt::format("{} of the sink {}", key, kind.name));
  }
  add_fallbacks(settings, kind.options);
  add_fallbacks(settings, kOfAll);
  return Checked{kind, std::move(settings)};
}

Result<std::unique_ptr<Sink>> make(const Checked& checked, const Surroundings& surroundings) {
  auto made = checked.kind.make(checked.settings, surroundings);
  if (!made) return within(made.error(), fmt::format("the sink {}", checked.kind.name));
  return made;
}

}  // namespace

std::span<const SinkKind* const> all_sinks() { return kAll; }
std::span<const Setting> options_of_all_sinks() { return kOfAll; }

const SinkKind* find_sink(std::string_view name) { return find_named(all_sinks(), name); }

Result<void> check(const std::string& kind, const Settings& settings) {
  TRY(complete(kind, settings));
  return {};
}

Result<std::unique_ptr<Sink>> make_sink(const std::string& kind, const Settings& settings,
                                        const Surroundings& surroundings) {
  TRY_ASSIGN(const Checked checked, complete(kind, settings));
  return make(checked, surroundings);
}

std::string name_of(const std::string& kind, const Settings& settings) {
  const auto it = settings.find(kName);
  return it == settings.end() ? kind : it->second;
}

std::string unshared_of(const std::string& kind, const Settings& settings) {
  const SinkKind* const found = find_sink(kind);
  if (!found || !found->unshared) return {};
  const auto it = settings.find(found->unshared);
  if (it != settings.end()) return fmt::format("{} {}", it->first, it->second);
  const Setting* option = find_setting(found->options, found->unshared);
  return option && option->fallback ? fmt::format("{} {}", option->key, option->fallback) : std::string();
}

Result<std::unique_ptr<SinkRunner>> start_sink(const std::string& kind, const Settings& settings,
                                               const Surroundings& surroundings) {
  TRY_ASSIGN(Checked checked, complete(kind, settings));
  TRY_ASSIGN(std::unique_ptr<Sink> sink, make(checked, surroundings));
  Settings& all = checked.settings;
  RunnerOptions options;
  options.name = name_of(kind, all);
  options.choice.tables = split_commas(all[kTables]);
  if (checked.kind.keeps_series) options.choice.left_out = surroundings.unbounded;
  options.choice.every =
      all.contains(kEvery) ? parse_duration_ns(all[kEvery]).value_or(0) : checked.kind.every(all);
  options.most_batches = static_cast<size_t>(parse_number(all[kQueue], 1, kMostQueue).value_or(1));
  options.most_bytes = static_cast<size_t>(parse_size(all[kQueueSize]).value_or(1));
  return SinkRunner::start(std::move(sink), std::move(options));
}

}  // namespace spotter::sink
