#include "collect/collector.h"

namespace spotter::collect {

Result<std::vector<Table>> ask(const CollectorKind& kind, Collector& collector) {
  Result<std::vector<Table>> tables = collector.sample();
  if (!tables) return tables;
  for (const TableKind& declared : kind.tables) {
    if (!declared.is_events) continue;
    for (Table& table : *tables) table.is_events = table.is_events || table.name() == declared.name;
  }
  return tables;
}

}  // namespace spotter::collect
