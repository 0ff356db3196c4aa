// Every rule; each is in the file of its subject.
#pragma once
#include <span>

#include "diagnose/rules/rule.h"

namespace spotter::diagnose {

std::span<const Rule* const> all_rules();  // the most telling first: in this order findings are told

// One on a line, so that a new one is a line.
// clang-format off
#define SPOTTER_RULES \
  kCapturesApart, \
  kNoEvents, \
  kNoDeviceWork, \
  kNoSteps, \
  kReplayDiffers, \
  kWorkOutsideOperators, \
  kMemoryLimit, \
  kNoTensorCores, \
  kDataParallel, \
  kSlowBackend
// clang-format on
extern const Rule SPOTTER_RULES;

}  // namespace spotter::diagnose
