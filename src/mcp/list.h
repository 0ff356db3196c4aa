// Every tool, one per file of its name in tools/, in the order in which clients see them.
#pragma once
#include "mcp/tool.h"

namespace spotter::mcp {

// One on a line, so that a new one is a line.
// clang-format off
#define SPOTTER_TOOLS \
  kOverview, \
  kWhySlow, \
  kQueryTable, \
  kCompare, \
  kListIncidents, \
  kGetIncident, \
  kQueryMetrics, \
  kDescribe, \
  kCapture
// clang-format on
extern const Tool SPOTTER_TOOLS;

std::span<const Tool* const> all_tools();
// Those that are offered.
std::vector<const Tool*> tools_of(const World& world);

}  // namespace spotter::mcp
