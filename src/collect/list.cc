#include "collect/list.h"

#include <algorithm>

#include "table/metric.h"

namespace spotter::collect {
namespace {

// One on a line, so that a new one is a line.
// clang-format off
constexpr const CollectorKind* kAll[] = {
    &kCpu,
    &kPmu,
    &kLoad,
    &kMemory,
    &kPressure,
    &kVmStat,
    &kDisk,
    &kFileSystem,
    &kNetwork,
    &kNetworkStack,
    &kNetworkHardware,
    &kRdma,
    &kInterrupts,
    &kUptime,
    &kNvidia,
    &kDcgm,
    &kAmd,
    &kProcess,
    &kAgent,
};
// clang-format on

}  // namespace

std::span<const CollectorKind* const> all_collectors() { return kAll; }

const CollectorKind* find_collector(std::string_view name) {
  const auto it = std::ranges::find_if(kAll, [&](const CollectorKind* kind) { return name == kind->name; });
  return it == std::end(kAll) ? nullptr : *it;
}

const TableKind* find_table(std::string_view name) {
  for (const CollectorKind* kind : kAll) {
    for (const TableKind& table : kind->tables) {
      if (name == table.name) return &table;
    }
  }
  return nullptr;
}

std::string metric_name(const TableKind& table, const Field& column) {
  return table::metric_name(table.name, column.name);
}

}  // namespace spotter::collect
