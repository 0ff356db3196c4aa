#include "read/unknown_categories.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/stable_sort.h"
#include "base/text/printable_within.h"

namespace spotter::read {

void note_unknown_categories(TraceData& data) {
  constexpr size_t kMostNamed = 3;
  constexpr size_t kMostText = 64;
  struct Unknown {
    std::string_view text;
    i64 spans = 0;
  };
  const auto is_unknown = [](const Kind& kind) {
    return kind.is_span && kind.category == Category::other && kind.category_text != 0;
  };
  if (std::ranges::none_of(data.kinds, is_unknown)) return;
  std::array<i64, 256> events{};
  for (size_t e = 0; e < data.kind.size(); ++e) ++events[data.kind[e]];
  std::vector<Unknown> unknown;
  for (size_t k = 0; k < data.kinds.size(); ++k)
    if (is_unknown(data.kinds[k]) && events[k] > 0)
      unknown.push_back({data.strings[data.kinds[k].category_text], events[k]});
  stable_sort(unknown, [](const Unknown& a, const Unknown& b) { return a.spans > b.spans; });
  i64 spans = 0;
  std::vector<std::string> named;
  for (const Unknown& one : unknown) {
    spans += one.spans;
    if (named.size() < kMostNamed)
      named.push_back(fmt::format("\"{}\"", printable_within(one.text, kMostText)));
  }
  std::ranges::sort(named);  // what several ranks have is one note
  std::string names = fmt::format("{}", fmt::join(named, ", "));
  if (unknown.size() > kMostNamed) names += fmt::format(" and {} more", unknown.size() - kMostNamed);
  if (spans > 0)
    data.notes.add(
        "unknown_category", Severity::loss,
        fmt::format("spans are of a category that is not known here ({}); they count in no time", names), -1,
        spans);
}

}  // namespace spotter::read
