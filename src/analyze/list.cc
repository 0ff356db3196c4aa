#include "analyze/list.h"

namespace spotter {

std::span<const Analysis* const> all_analyses() {
  static constexpr const Analysis* kAll[] = {
      &kSummary,
      &kTemporalBreakdown,
      &kIdleTimeBreakdown,
      &kIdleIntervalStatistics,
      &kKernelTypeBreakdown,
      &kKernelBreakdown,
      &kKernelDurationDistribution,
      &kCommCompOverlap,
      &kOperators,
      &kSteps,
  };
  return kAll;
}

const Analysis* find_analysis(std::string_view name) {
  for (const Analysis* analysis : all_analyses())
    if (name == analysis->name) return analysis;
  return nullptr;
}

}  // namespace spotter
