// Every analysis, one per file of its name. list.cc puts them in the order users see.
#pragma once
#include "analyze/analysis.h"

namespace spotter {

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
