// Words and lines of what the kernel writes. All views are of the text that was handed in.
#pragma once
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include "base/types.h"

namespace spotter {

// Takes the first line off the text, without its end.
inline std::string_view next_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return line;
}

// The text up to its last end of a line: what comes after it was cut off somewhere, and a cut number is a
// wrong one.
inline std::string_view whole_lines(std::string_view text) { return text.substr(0, text.rfind('\n') + 1); }

// Takes the first word off the text; blanks and tabs part words. Empty: there is none.
inline std::string_view next_word(std::string_view& text) {
  const auto is_blank = [&](size_t i) { return text[i] == ' ' || text[i] == '\t'; };
  size_t begin = 0;
  while (begin < text.size() && is_blank(begin)) ++begin;
  size_t end = begin;
  while (end < text.size() && !is_blank(end)) ++end;
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  return begin == text.npos ? std::string_view()
                            : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// A whole word in decimal. What is larger than an i64 holds, as unsigned counters of 64 bits can be, is its
// largest.
inline std::optional<i64> to_integer(std::string_view word) {
  i64 value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || end != word.data() + word.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range)
    return word.front() == '-' ? std::numeric_limits<i64>::min() : std::numeric_limits<i64>::max();
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// A whole word in decimal with or without a point, not below zero.
inline std::optional<double> to_real(std::string_view word) {
  double value = 0;
  if (word.empty() || word.front() < '0' || word.front() > '9') return std::nullopt;
  const auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), value, std::chars_format::fixed);
  return error == std::errc() && end == word.data() + word.size() ? std::optional(value) : std::nullopt;
}

}  // namespace spotter
