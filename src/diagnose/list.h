// Every rule, by the file that it is in.
#pragma once
#include <span>

#include "diagnose/rule.h"

namespace spotter::diagnose {

std::span<const Rule* const> all_rules();  // the most telling first: in this order findings are told

// device_idle.cc: the device does nothing; one of them, by what it waits for.
extern const Rule kLaunchBound;
extern const Rule kHostBound;
extern const Rule kIdleForUnknown;
extern const Rule kIdleForOthers;
extern const Rule kIdleBetweenKernels;
extern const Rule kIdleForNoOneCause;
// device_use.cc: what the device does.
extern const Rule kDeviceUncovered;
extern const Rule kExposedCommunication;
extern const Rule kDominantKernel;
extern const Rule kDominantOperator;
// ranks.cc: ranks held against each other.
extern const Rule kWaitsForRank;
extern const Rule kRanksOutOfStep;
extern const Rule kSlowRank;
extern const Rule kIdleRank;
extern const Rule kUnevenWork;
// steps.cc
extern const Rule kLongStep;
extern const Rule kUnevenSteps;
// caveats.cc
extern const Rule kNoEvents;
extern const Rule kCapturesApart;
extern const Rule kNoDeviceWork;
extern const Rule kNoSteps;
extern const Rule kWorkOutsideOperators;

}  // namespace spotter::diagnose
