// What the records of options do with a word, where that is usual. What they set has to outlive the parse.
#pragma once
#include <optional>
#include <string>
#include <utility>

#include "app/cli/command.h"
#include "base/text/quantity.h"

namespace spotter::app {

inline Read keep(std::string& to) {
  return [&to](const std::string& word) -> Result<void> {
    to = word;
    return {};
  };
}

inline Read keep_each(std::vector<std::string>& to) {
  return [&to](const std::string& word) -> Result<void> {
    to.push_back(word);
    return {};
  };
}

// Of a flag.
inline Read set(bool& to, bool value = true) {
  return [&to, value](const std::string&) -> Result<void> {
    to = value;
    return {};
  };
}

// By a function from a word to a Result.
template <class To, class Parse>
Read parsed(To& to, Parse parse) {
  return [&to, parse = std::move(parse)](const std::string& word) -> Result<void> {
    TRY_ASSIGN(to, parse(word));
    return {};
  };
}

template <class To>
Read number(To& to, i64 least, i64 most) {
  return [&to, least, most](const std::string& word) -> Result<void> {
    TRY_ASSIGN(const i64 value, parse_number(word, least, most));
    to = static_cast<To>(value);
    return {};
  };
}
inline Read number(std::optional<i64>& to, i64 least, i64 most) {
  return parsed(to, [least, most](const std::string& word) { return parse_number(word, least, most); });
}

}  // namespace spotter::app
