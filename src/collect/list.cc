#include "collect/list.h"

#include "base/records.h"
#include "table/metric.h"

namespace spotter::collect {

std::span<const CollectorKind* const> all_collectors() {
  static constexpr auto kAll = addresses(SPOTTER_COLLECTORS);
  return kAll;
}

const CollectorKind* find_collector(std::string_view name) { return find_named(all_collectors(), name); }

std::string metric_name(const TableKind& table, const Field& column) {
  return table::metric_name(table.name, column.name);
}

}  // namespace spotter::collect
