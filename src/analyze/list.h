// Every analysis, one per file of its name.
#pragma once
#include "analyze/analysis.h"

namespace spotter::analyze {

std::span<const Analysis* const> all_analyses();       // in the order users see
std::vector<const Analysis*> usual_analyses();         // all but those on request
const Analysis* find_analysis(std::string_view name);  // nullptr if there is none

extern const Analysis kSummary;
extern const Analysis kTemporalBreakdown;
extern const Analysis kDeviceIdleBreakdown;
extern const Analysis kIdleTimeBreakdown;
extern const Analysis kIdleIntervalStatistics;
extern const Analysis kKernelTypeBreakdown;
extern const Analysis kKernelBreakdown;
extern const Analysis kKernelDurationDistribution;
extern const Analysis kCommCompOverlap;
extern const Analysis kStragglers;
extern const Analysis kOperators;
extern const Analysis kSteps;
extern const Analysis kCriticalPath;
extern const Analysis kCriticalPathNames;
extern const Analysis kCriticalPathEdges;
extern const Analysis kOperatorKernels;
extern const Analysis kFrequentKernelSequences;
extern const Analysis kUserAnnotationBreakdown;
extern const Analysis kKernelsByAnnotation;
extern const Analysis kCallTree;
extern const Analysis kTimeline;
extern const Analysis kEventTotals;
extern const Analysis kKernelLaunchStats;
extern const Analysis kKernelLaunches;
extern const Analysis kQueueLength;
extern const Analysis kQueueLengthSeries;
extern const Analysis kQueueBlocked;
extern const Analysis kMemoryBandwidth;
extern const Analysis kMemoryBandwidthSeries;
extern const Analysis kMemoryTimeline;
extern const Analysis kMemoryTimelineSeries;
extern const Analysis kDeviceBusySeries;
extern const Analysis kSmEfficiencySeries;
extern const Analysis kCuptiCounters;

}  // namespace spotter::analyze
