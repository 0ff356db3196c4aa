#include "notify/list.h"

#include <array>
#include <optional>

#include "base/records.h"
#include "base/text/utf8.h"

namespace spotter::notify {
namespace {

constexpr auto kAll = addresses(SPOTTER_NOTIFIERS);

Result<void> is_redaction(const std::string& words) {
  TRY(parse_redaction(words));
  return {};
}

std::optional<respond::Urgency> severity(const std::string& word) {
  for (const auto urgency : {respond::Urgency::info, respond::Urgency::warning, respond::Urgency::critical}) {
    if (word == respond::urgency_name(urgency)) return urgency;
  }
  return {};
}

Result<void> is_severity(const std::string& word) {
  if (severity(word)) return {};
  return fail(Code::invalid, "\"{}\" is none of info, warning and critical", to_printable(word));
}

constexpr Setting kOfAll[] = {
    {"name", nullptr,
     "Its name in the status and the log; by default its type. One of two notifiers of a type needs it.",
     nullptr},
    {"redact", "",
     "What it is not told, by commas: names (of jobs, and what changed in the code), hosts, users, log_lines.",
     is_redaction},
    {"min_severity", "info", "Of incidents below it nothing is told: info, warning or critical.",
     is_severity},
};

std::string known_settings(const NotifierKind& kind) {
  std::string known;
  for (const auto settings : {kind.settings, std::span<const Setting>(kOfAll)}) {
    for (const Setting& s : settings) known += (known.empty() ? "" : ", ") + std::string(s.key);
  }
  return known;
}

}  // namespace

std::span<const NotifierKind* const> all_notifiers() { return kAll; }
const NotifierKind* find_notifier(std::string_view name) { return find_named(all_notifiers(), name); }
std::span<const Setting> settings_of_all_notifiers() { return kOfAll; }

Result<void> check(const std::string& name, const Settings& settings) {
  const NotifierKind* kind = find_notifier(name);
  if (!kind) {
    std::string known;
    for (const NotifierKind* k : kAll) known += (known.empty() ? "" : ", ") + std::string(k->name);
    return fail(Code::invalid, "there is no notifier \"{}\"; there are {}", to_printable(name), known);
  }
  for (const auto& [key, value] : settings) {
    const Setting* setting = find_setting(kind->settings, key);
    if (!setting) setting = find_setting(kOfAll, key);
    if (!setting)
      return fail(Code::invalid, "the notifier {} has no setting {}; it has {}", kind->name,
                  to_printable(key), known_settings(*kind));
    if (!setting->check) continue;
    if (const auto checked = setting->check(value); !checked)
      return within(checked.error(), fmt::format("{} of the notifier {}", key, kind->name));
  }
  return {};
}

std::string name_of(const std::string& kind, const Settings& settings) {
  const auto it = settings.find("name");
  return it == settings.end() ? kind : it->second;
}

Redaction redaction_of(const Settings& settings) {
  const auto it = settings.find("redact");
  return it == settings.end() ? Redaction{} : parse_redaction(it->second).value_or(Redaction{});
}

respond::Urgency least_of(const Settings& settings) {
  const auto it = settings.find("min_severity");
  return it == settings.end() ? respond::Urgency::info
                              : severity(it->second).value_or(respond::Urgency::info);
}

Result<std::unique_ptr<Notifier>> open_notifier(const std::string& name, Settings settings,
                                                const Surroundings& surroundings) {
  TRY(check(name, settings));
  const NotifierKind& kind = *find_notifier(name);
  Surroundings known = surroundings;
  if (redaction_of(settings).hosts) known.host_name = redacted_host(known.host_name);
  add_fallbacks(settings, kind.settings);
  auto opened = kind.open(settings, known);
  if (!opened) return within(opened.error(), fmt::format("the notifier {}", name_of(name, settings)));
  return opened;
}

}  // namespace spotter::notify
