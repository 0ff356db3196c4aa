// The tables of the TensorBoard profiler plugin (torch-tb-profiler 0.4.3), one per file, for --compat
// tb_plugin: what it computes, with its mistakes, which have Q-numbers in docs/tb_plugin.md. Each has the
// name of the exact analysis in whose place it stands, and of that one's columns those that the plugin has.
#pragma once
#include "analyze/analysis.h"

namespace spotter::analyze::tb_plugin {

// clang-format off
#define SPOTTER_TB_PLUGIN_TABLES \
  kStepBreakdown, \
  kDeviceSummary, \
  kOperatorGroups, \
  kKernelGroups, \
  kModules, \
  kCommSteps, \
  kCollectives, \
  kMemoryTimeline, \
  kMemoryTimelineSeries, \
  kMemoryEvents, \
  kMemoryByOperator, \
  kDeviceBusySeries, \
  kSmEfficiencySeries
// clang-format on
extern const Analysis SPOTTER_TB_PLUGIN_TABLES;

}  // namespace spotter::analyze::tb_plugin
