#include "analyze/range_text.h"

#include <fmt/format.h>

namespace spotter::analyze {

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

}  // namespace spotter::analyze
