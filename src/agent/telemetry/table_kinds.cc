#include "agent/telemetry/table_kinds.h"

#include <vector>

#include "base/records.h"
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

const table::TableKind* find_table_kind(std::string_view name) { return find_named(all_table_kinds(), name); }

}  // namespace spotter::agent
