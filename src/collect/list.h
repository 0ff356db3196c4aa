// Every collector, in the order users see.
#pragma once
#include "collect/collector.h"

namespace spotter::collect {

extern const CollectorKind kCpu;
extern const CollectorKind kNvidia;
extern const CollectorKind kDcgm;
extern const CollectorKind kAmd;

std::span<const CollectorKind* const> all_collectors();
const CollectorKind* find_collector(std::string_view name);  // nullptr if there is none
const TableKind* find_table(std::string_view name);

// "disk_read_bytes" of the column read_bytes of the table disk; what begins with the table's name keeps it
// once.
std::string metric_name(const TableKind& table, const Field& column);

}  // namespace spotter::collect
