#include "agent/table_kinds.h"

#include <algorithm>
#include <vector>

#include "collect/list.h"

namespace spotter::agent {
namespace {

std::vector<const table::TableKind*> listed() {
  std::vector<const table::TableKind*> kinds;
  for (const collect::CollectorKind* collector : collect::all_collectors()) {
    for (const table::TableKind& kind : collector->tables) kinds.push_back(&kind);
  }
  return kinds;
}

}  // namespace

std::span<const table::TableKind* const> all_table_kinds() {
  static const std::vector<const table::TableKind*> kinds = listed();
  return kinds;
}

const table::TableKind* find_table_kind(std::string_view name) {
  const auto kinds = all_table_kinds();
  const auto it = std::ranges::find(kinds, name, &table::TableKind::name);
  return it == kinds.end() ? nullptr : *it;
}

}  // namespace spotter::agent
