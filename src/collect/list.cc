#include "collect/list.h"

#include <algorithm>

namespace spotter::collect {

namespace {

constexpr const CollectorKind* kAll[] = {
    &kCpu,
    &kNvidia,
    &kDcgm,
    &kAmd,
};

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
  const std::string_view name = column.name;
  const std::string prefix = fmt::format("{}_", table.name);
  return name.starts_with(prefix) ? std::string(name) : prefix + column.name;
}

}  // namespace spotter::collect
