#include "respond/incidents/waiting_group.h"

#include "respond/rules/columns.h"

namespace spotter::respond {

std::optional<ListedRanks> waiting_group(const Table& findings) {
  constexpr const char* kNames[] = {"mechanism", "group"};
  Columns columns(kNames);
  columns.find(findings);
  for (size_t row = 0; row < findings.rows(); ++row)
    if (columns.text(row, 0) == "absent_ranks") return listed_ranks(columns.text(row, 1));
  return {};
}

}  // namespace spotter::respond
