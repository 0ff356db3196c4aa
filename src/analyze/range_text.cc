#include "analyze/range_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text/quantity.h"

namespace spotter::analyze {
namespace {

std::optional<Range> range(std::string_view text) {
  const size_t dash = text.find('-');
  const std::optional<i64> first = whole_number(text.substr(0, dash));
  const std::optional<i64> last = dash == text.npos ? first : whole_number(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return Range{*first, *last};
}

}  // namespace

std::string range_text(std::span<const Range> ranges) {
  std::string text;
  for (const auto& [first, last] : ranges)
    text +=
        fmt::format("{}{}{}", text.empty() ? "" : ", ", first, first == last ? "" : fmt::format("-{}", last));
  return text;
}

std::string range_text(const std::set<i64>& numbers) {
  std::vector<Range> ranges;
  for (const i64 n : numbers) {
    if (!ranges.empty() && ranges.back().last == n - 1)
      ranges.back().last = n;
    else
      ranges.push_back({n, n});
  }
  return range_text(ranges);
}

Result<std::vector<Range>> parse_ranges(const std::string& text) {
  std::vector<Range> ranges;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const auto part = range(std::string_view(text).substr(at, comma - at));
    if (!part) return fail(Code::invalid, "\"{}\" is no list of numbers such as 0,3-7", text);
    ranges.push_back(*part);
    at = comma + 1;
  }
  return ranges;
}

Result<Range> parse_range(const std::string& text) {
  const auto whole = range(text);
  if (!whole) return fail(Code::invalid, "\"{}\" is no range of numbers such as 2-5", text);
  return *whole;
}

}  // namespace spotter::analyze
