// Numbers as programs write them. For those that people write base/text/quantity.h has errors that say more.
#pragma once
#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace spotter {

// The whole of `text` as std::from_chars() reads it: no blanks, no plus sign, no prefix of a base. nullopt
// for anything else, an empty text, and what does not fit.
template <class T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

// The same of digits of another base.
template <std::integral T>
std::optional<T> number_in(std::string_view text, int base) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

}  // namespace spotter
