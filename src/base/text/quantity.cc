#include "base/text/quantity.h"

#include <algorithm>
#include <charconv>

#include "base/text/number.h"
#include "base/time.h"

namespace spotter {

namespace {
constexpr i64 kLongest = 3'000'000'000'000'000'000;  // ns, 95 years: two of them have a sum
}

std::optional<i64> whole_number(std::string_view text) {
  const auto value = number_in<i64>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

Result<i64> parse_size(const std::string& text) {
  static constexpr std::string_view kUnits = "KMGT";
  std::string_view digits = text;
  i64 scale = 1;
  if (digits.ends_with("iB")) digits.remove_suffix(2);
  if (!digits.empty()) {
    if (const size_t unit = kUnits.find(static_cast<char>(digits.back() & ~32)); unit != kUnits.npos) {
      scale = i64{1} << (10 * (unit + 1));
      digits.remove_suffix(1);
    }
  }
  const std::optional<i64> value = whole_number(digits);
  if (!value || *value == 0 || *value > INT64_MAX / scale)
    return fail(Code::invalid, "\"{}\" is no size such as 512M or 8G", text);
  return *value * scale;
}

Result<i64> parse_duration_ms(const std::string& text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ms", 1}, {"s", 1e3}, {"m", 6e4}, {"h", 3.6e6}, {"d", 8.64e7}};
  double value = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view rest(r.ptr, static_cast<size_t>(text.data() + text.size() - r.ptr));
  for (const auto& [unit, ms] : kUnits) {
    const double total = value * ms;
    if (r.ec == std::errc() && rest == unit && total >= 0 && total < 1e12)
      return static_cast<i64>(total + 0.5);
  }
  return fail(Code::invalid, "\"{}\" is no time such as 500ms, 1.5s, 10m or 2h", text);
}

// Digit by digit, since a fraction of a second in floating point is not that of nanoseconds.
Result<i64> parse_duration_ns(const std::string& text) {
  static constexpr std::pair<std::string_view, i64> kUnits[] = {
      {"ns", 1},      {"us", kMicrosecond}, {"ms", kMillisecond}, {"s", kSecond},
      {"m", kMinute}, {"h", kHour},         {"d", kDay}};
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view value = std::string_view(text).substr(0, digits);
  const size_t point = std::min(value.find('.'), value.size());
  const std::string_view fraction = value.substr(std::min(point + 1, value.size()));
  for (const auto& [unit, ns] : kUnits) {
    if (std::string_view(text).substr(digits) != unit) continue;
    const std::optional<i64> whole = whole_number(value.substr(0, point));
    const std::optional<i64> parts = fraction.empty() ? std::optional<i64>(0) : whole_number(fraction);
    if (!whole || !parts || *whole > kLongest / ns || fraction.size() > 9) break;
    i64 scale = 1;
    for (size_t i = 0; i < fraction.size(); ++i) scale *= 10;
    return *whole * ns + static_cast<i64>(i128{*parts} * ns / scale);
  }
  return fail(Code::invalid, "\"{}\" is no time such as 100us, 1.5s, 10m, 2h or 7d", text);
}

Result<i64> parse_number(const std::string& text, i64 least, i64 most) {
  const std::optional<i64> value = whole_number(text);
  if (value && *value >= least && *value <= most) return *value;
  if (most == INT64_MAX) return fail(Code::invalid, "\"{}\" is no whole number from {} on", text, least);
  return fail(Code::invalid, "\"{}\" is no whole number from {} to {}", text, least, most);
}

std::vector<std::string> split_commas(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

}  // namespace spotter
