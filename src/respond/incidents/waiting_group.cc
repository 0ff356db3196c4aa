#include "respond/incidents/waiting_group.h"

#include "base/text/number.h"
#include "base/text/quantity.h"
#include "base/text/words.h"
#include "respond/rules/columns.h"

namespace spotter::respond {

WaitingGroup waiting_group(std::string_view words) {
  WaitingGroup group;
  const size_t begin = words.find('['), end = words.find(']', begin);
  if (begin == words.npos || end == words.npos) return group;
  bool is_whole = true;
  for (const std::string& word : split_commas(words.substr(begin + 1, end - begin - 1))) {
    const auto rank = whole_number(trimmed(word));
    if (rank) group.ranks.push_back(*rank);
    is_whole = is_whole && rank;
  }
  group.is_whole = is_whole && !group.ranks.empty();
  return group;
}

std::optional<WaitingGroup> waiting_group_in(const Table& findings) {
  constexpr const char* kNames[] = {"mechanism", "group"};
  Columns columns(kNames);
  columns.find(findings);
  for (size_t row = 0; row < findings.rows(); ++row)
    if (columns.text(row, 0) == "absent_ranks") return waiting_group(columns.text(row, 1));
  return {};
}

}  // namespace spotter::respond
