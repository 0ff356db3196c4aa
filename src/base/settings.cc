#include "base/settings.h"

#include <algorithm>

#include "base/text/quantity.h"
#include "base/text/utf8.h"

namespace spotter {

const Setting* find_setting(std::span<const Setting> settings, std::string_view key) {
  const auto it = std::ranges::find_if(settings, [&](const Setting& setting) { return key == setting.key; });
  return it == settings.end() ? nullptr : &*it;
}

void add_fallbacks(Settings& said, std::span<const Setting> settings) {
  for (const Setting& setting : settings) {
    if (setting.fallback) said.try_emplace(setting.key, setting.fallback);
  }
}

Result<void> is_duration(const std::string& word) {
  TRY(parse_duration_ns(word));
  return {};
}

Result<void> is_size(const std::string& word) {
  TRY(parse_size(word));
  return {};
}

Result<void> is_path(const std::string& word) {
  if (word.empty()) return fail(Code::invalid, "there is no path");
  return {};
}

Result<void> is_flag(const std::string& word) {
  if (word == "true" || word == "false") return {};
  return fail(Code::invalid, "\"{}\" is neither true nor false", to_printable(word));
}

}  // namespace spotter
