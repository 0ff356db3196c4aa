// Settings: what a configuration says of one thing, a word by its key, and the records of the keys that it
// has.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace spotter {

using Settings = std::map<std::string, std::string>;

struct Setting {
  const char* key;
  const char* fallback;  // nullptr: who reads it finds one, as `help` says; "" is no value
  const char* help;      // one sentence
  Result<void> (*check)(const std::string& word);  // nullptr: any text. Errors: invalid
};

const Setting* find_setting(std::span<const Setting> settings, std::string_view key);  // nullptr: none
void add_fallbacks(Settings& said, std::span<const Setting> settings);  // of the keys that are not said

// What a word may be. Errors: invalid.
Result<void> is_duration(const std::string& word);  // "10s"
Result<void> is_size(const std::string& word);      // "64M"
Result<void> is_path(const std::string& word);      // not empty
Result<void> is_flag(const std::string& word);      // true or false

}  // namespace spotter
