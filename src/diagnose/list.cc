#include "diagnose/list.h"

namespace spotter::diagnose {

std::span<const Rule* const> all_rules() {
  static constexpr const Rule* kAll[] = {
      &kCapturesApart,
      &kNoEvents,
      &kWaitsForRank,
      &kLaunchBound,
      &kHostBound,
      &kIdleForUnknown,
      &kIdleForOthers,
      &kIdleBetweenKernels,
      &kIdleForNoOneCause,
      &kDeviceUncovered,
      &kExposedCommunication,
      &kRanksOutOfStep,
      &kSlowRank,
      &kIdleRank,
      &kUnevenWork,
      &kLongStep,
      &kUnevenSteps,
      &kNoDeviceWork,
      &kNoSteps,
      &kWorkOutsideOperators,
      &kDominantKernel,
      &kDominantOperator,
  };
  return kAll;
}

}  // namespace spotter::diagnose
