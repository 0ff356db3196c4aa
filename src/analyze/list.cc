#include "analyze/list.h"

#include <algorithm>

namespace spotter::analyze {

std::span<const Analysis* const> all_analyses() {
  static constexpr const Analysis* kAll[] = {
      &kSummary,
      &kTemporalBreakdown,
      &kDeviceIdleBreakdown,
      &kIdleTimeBreakdown,
      &kIdleIntervalStatistics,
      &kKernelTypeBreakdown,
      &kKernelBreakdown,
      &kKernelDurationDistribution,
      &kCommCompOverlap,
      &kStragglers,
      &kOperators,
      &kSteps,
      &kCriticalPath,
      &kCriticalPathNames,
      &kCriticalPathEdges,
      &kOperatorKernels,
      &kFrequentKernelSequences,
      &kUserAnnotationBreakdown,
      &kKernelsByAnnotation,
      &kCallTree,
      &kTimeline,
      &kEventTotals,
      &kKernelLaunchStats,
      &kKernelLaunches,
      &kQueueLength,
      &kQueueLengthSeries,
      &kQueueBlocked,
      &kMemoryBandwidth,
      &kMemoryBandwidthSeries,
      &kMemoryTimeline,
      &kMemoryTimelineSeries,
      &kDeviceBusySeries,
      &kSmEfficiencySeries,
      &kCuptiCounters,
  };
  return kAll;
}

std::vector<const Analysis*> usual_analyses() {
  std::vector<const Analysis*> usual;
  std::ranges::remove_copy_if(all_analyses(), std::back_inserter(usual), &Analysis::on_request);
  return usual;
}

const Analysis* find_analysis(std::string_view name) {
  for (const Analysis* analysis : all_analyses())
    if (name == analysis->name) return analysis;
  return nullptr;
}

}  // namespace spotter::analyze
