#include "respond/rules/list.h"

#include "base/records.h"
#include "base/text/quantity.h"
#include "base/text/suggestion.h"
#include "base/text/utf8.h"

namespace spotter::respond {
namespace {

Result<void> is_recovery(const std::string& word) {
  if (word == kByHand) return {};
  return is_duration(word);
}

}  // namespace

std::span<const Rule* const> all_rules() {
  static constexpr auto kAll = addresses(SPOTTER_WATCH_RULES);
  return kAll;
}

const Rule* find_rule(std::string_view name) { return find_named(all_rules(), name); }

std::span<const Setting> common_settings() {
  static constexpr Setting kCommon[] = {
      {"enabled", "true", "Whether it is watched for.", is_flag},
      {"for", nullptr, "How long it has to hold before it is told.", is_duration},
      {"recover", nullptr, "How long after the last sign of it it is over; \"by hand\": not by itself.",
       is_recovery},
  };
  return kCommon;
}

Result<void> check(const Rule& rule, const Settings& said) {
  for (const auto& [key, word] : said) {
    const Setting* setting = find_setting(common_settings(), key);
    if (!setting) setting = find_setting(rule.settings, key);
    if (!setting) return fail(Code::invalid, "{}: it has no setting \"{}\"", rule.name, to_printable(key));
    if (!setting->check) continue;
    if (auto passed = setting->check(word); !passed)
      return within(passed.error(), fmt::format("{}: {}", rule.name, key));
  }
  return {};
}

Settings whole_settings(const Rule& rule, Settings said) {
  add_fallbacks(said, common_settings());
  add_fallbacks(said, rule.settings);
  said.try_emplace("for", rule.hold);
  said.try_emplace("recover", rule.recover);
  return said;
}

}  // namespace spotter::respond
