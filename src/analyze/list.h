// Every analysis, one per file of its name.
#pragma once
#include "analyze/analysis.h"

namespace spotter::analyze {

std::span<const Analysis* const> all_analyses();       // in the order users see
std::vector<const Analysis*> usual_analyses();         // all but those on request
const Analysis* find_analysis(std::string_view name);  // nullptr if there is none

// One on a line, so that a new one is a line.
// clang-format off
#define SPOTTER_ANALYSES \
  kSummary, \
  kConditions, \
  kTemporalBreakdown, \
  kDeviceIdleBreakdown, \
  kIdleTimeBreakdown, \
  kIdleIntervalStatistics, \
  kIdleCauses, \
  kKernelTypeBreakdown, \
  kKernelBreakdown, \
  kKernelDurationDistribution, \
  kCommCompOverlap, \
  kCollectives, \
  kCommSteps, \
  kStragglers, \
  kFlightRecorder, \
  kFlightRecorderRanks, \
  kOperators, \
  kSteps, \
  kStepBreakdown, \
  kStepBudget, \
  kIterations, \
  kIterationSummary, \
  kDeviceSummary, \
  kDeviceSteps, \
  kCriticalPath, \
  kCriticalPathNames, \
  kCriticalPathEdges, \
  kOperatorGroups, \
  kOperatorKernels, \
  kKernelGroups, \
  kOperatorEfficiency, \
  kMfu, \
  kFrequentKernelSequences, \
  kUserAnnotationBreakdown, \
  kKernelsByAnnotation, \
  kCallTree, \
  kModules, \
  kPaths, \
  kTimeline, \
  kSpans, \
  kRankStrip, \
  kEventTotals, \
  kKernelLaunchStats, \
  kKernelLaunches, \
  kQueueLength, \
  kQueueLengthSeries, \
  kQueueBlocked, \
  kMemoryBandwidth, \
  kMemoryBandwidthSeries, \
  kMemoryTimeline, \
  kMemoryTimelineSeries, \
  kMemoryEvents, \
  kMemoryByOperator, \
  kMemoryAtPeak, \
  kMemoryLeaks, \
  kDeviceBusySeries, \
  kSmEfficiencySeries, \
  kCuptiCounters, \
  kReplay, \
  kJobCriticalPath, \
  kSkeleton
// clang-format on
extern const Analysis SPOTTER_ANALYSES;

}  // namespace spotter::analyze
