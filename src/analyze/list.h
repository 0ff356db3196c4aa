// Every analysis, one per file of its name.
#pragma once
#include "analyze/analysis.h"

namespace spotter {

std::span<const Analysis* const> all_analyses();       // in the order users see
const Analysis* find_analysis(std::string_view name);  // nullptr if there is none

extern const Analysis kSummary;
extern const Analysis kTemporalBreakdown;
extern const Analysis kIdleTimeBreakdown;
extern const Analysis kIdleIntervalStatistics;
extern const Analysis kKernelTypeBreakdown;
extern const Analysis kKernelBreakdown;
extern const Analysis kKernelDurationDistribution;
extern const Analysis kCommCompOverlap;
extern const Analysis kOperators;
extern const Analysis kSteps;

}  // namespace spotter
