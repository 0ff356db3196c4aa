// Every mechanism, one per file of its name.
#pragma once
#include <span>

#include "diagnose/mechanism.h"

namespace spotter::diagnose {

std::span<const Mechanism* const> all_mechanisms();

// One on a line, so that a new one is a line.
// clang-format off
#define SPOTTER_MECHANISMS \
  kHang, \
  kSlowDevice, \
  kSlowHost, \
  kClockDrop, \
  kLongStep, \
  kUnevenWork, \
  kDataLoading, \
  kHostSync, \
  kHostPause, \
  kAllocator, \
  kMemoryPressure, \
  kCopies, \
  kCompilation, \
  kSlowLink, \
  kLaunchBound, \
  kSmallKernels, \
  kLowEfficiency, \
  kSerializedCommunication, \
  kExposedCommunication, \
  kUnequalStages, \
  kPipelineBubble, \
  kAbsentRanks, \
  kDeviceClock, \
  kManyLaunchers, \
  kUnrecordedHost
// clang-format on
extern const Mechanism SPOTTER_MECHANISMS;

}  // namespace spotter::diagnose
