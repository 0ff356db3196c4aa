// Every rule, the most urgent first.
#pragma once
#include <span>
#include <string_view>

#include "respond/rules/rule.h"

namespace spotter::respond {

std::span<const Rule* const> all_rules();
const Rule* find_rule(std::string_view name);  // nullptr: there is none

// Errors: invalid (no such setting, or a value that cannot be), with the setting.
Result<void> check(const Rule& rule, const Settings& said);
// With the fallbacks of what is not said.
Settings whole_settings(const Rule& rule, Settings said);

// One on a line, so that a new one is a line.
// clang-format off
#define SPOTTER_WATCH_RULES \
  kProgressStopped, \
  kCollectiveStuck, \
  kRankGone, \
  kGpuFault, \
  kGpuMemoryRows, \
  kOomKill, \
  kStorageHangs, \
  kLogError, \
  kStepTimeUp, \
  kRankOutlier, \
  kGpuThrottled, \
  kGpuIdleInJob, \
  kGpuShared, \
  kLinkErrors, \
  kHostStarved, \
  kStepTimeCreep, \
  kStepTimeSpikes, \
  kRdmaCongestion, \
  kCpuThrottled
// clang-format on
extern const Rule SPOTTER_WATCH_RULES;

}  // namespace spotter::respond
