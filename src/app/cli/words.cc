#include "app/cli/words.h"

#include <algorithm>
#include <optional>

namespace spotter::app {
namespace {

std::optional<analyze::Range> range(std::string_view text) {
  const size_t dash = text.find('-');
  const std::optional<i64> first = whole_number(text.substr(0, dash));
  const std::optional<i64> last = dash == text.npos ? first : whole_number(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return analyze::Range{*first, *last};
}

}  // namespace

Result<std::vector<analyze::Range>> parse_ranges(const std::string& text) {
  std::vector<analyze::Range> ranges;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const auto part = range(std::string_view(text).substr(at, comma - at));
    if (!part) return fail(Code::invalid, "\"{}\" is no list of numbers such as 0,3-7", text);
    ranges.push_back(*part);
    at = comma + 1;
  }
  return ranges;
}

Result<analyze::Range> parse_range(const std::string& text) {
  const auto whole = range(text);
  if (!whole) return fail(Code::invalid, "\"{}\" is no range of numbers such as 2-5", text);
  return *whole;
}

std::string flag_of(const Param& param) {
  std::string name = param.name;
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

std::string default_of(const Param& param) {
  if (!param.is_text()) return fmt::format(" (default {})", std::get<i64>(param.fallback));
  const std::string text = std::get<const char*>(param.fallback);
  return text.empty() ? text : fmt::format(" (default {})", text);
}

}  // namespace spotter::app
