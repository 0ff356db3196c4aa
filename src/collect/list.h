// Every collector, in the order users see.
#pragma once
#include "collect/collector.h"

namespace spotter::collect {

extern const CollectorKind kCpu;
extern const CollectorKind kPmu;
extern const CollectorKind kLoad;
extern const CollectorKind kMemory;
extern const CollectorKind kPressure;
extern const CollectorKind kVmStat;
extern const CollectorKind kDisk;
extern const CollectorKind kFileSystem;
extern const CollectorKind kNetwork;
extern const CollectorKind kNetworkStack;
extern const CollectorKind kNetworkHardware;
extern const CollectorKind kRdma;
extern const CollectorKind kInterrupts;
extern const CollectorKind kUptime;
extern const CollectorKind kNvidia;
extern const CollectorKind kDcgm;
extern const CollectorKind kAmd;
extern const CollectorKind kProcess;
extern const CollectorKind kAgent;

std::span<const CollectorKind* const> all_collectors();
const CollectorKind* find_collector(std::string_view name);  // nullptr if there is none
const TableKind* find_table(std::string_view name);

// By the rule of table/metric.h.
std::string metric_name(const TableKind& table, const Field& column);

}  // namespace spotter::collect
