// Every collector, in the order users see.
#pragma once
#include "collect/collector.h"

namespace spotter::collect {

// One on a line, so that a new one is a line.
// clang-format off
#define SPOTTER_COLLECTORS \
  kCpu, \
  kPmu, \
  kLoad, \
  kMemory, \
  kEdac, \
  kPressure, \
  kVmStat, \
  kDisk, \
  kNvme, \
  kFileSystem, \
  kNfs, \
  kNetwork, \
  kNetworkStack, \
  kConntrack, \
  kNetworkHardware, \
  kRdma, \
  kInterrupts, \
  kHwmon, \
  kThermal, \
  kUptime, \
  kTimex, \
  kNvidia, \
  kDcgm, \
  kAmd, \
  kProcess, \
  kJobLog, \
  kSteps, \
  kTextFile, \
  kAgent
// clang-format on
extern const CollectorKind SPOTTER_COLLECTORS;

std::span<const CollectorKind* const> all_collectors();
const CollectorKind* find_collector(std::string_view name);  // nullptr if there is none

// By the rule of table/metric.h.
std::string metric_name(const TableKind& table, const Field& column);

}  // namespace spotter::collect
