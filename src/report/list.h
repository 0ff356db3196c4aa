// Every section of the report of a job; each is in a file of sections/.
#pragma once
#include <span>

#include "report/section.h"

namespace spotter::report {

std::span<const Section* const> all_sections();  // in the order users see

// One on a line, so that a new one is a line.
// clang-format off
#define SPOTTER_SECTIONS \
  kAnswer, \
  kStandsOut, \
  kIterations, \
  kDeviceRanks, \
  kStepMap, \
  kCommunicationWaits, \
  kTopKernels, \
  kHostRanks, \
  kTopOperators, \
  kMemory, \
  kLongestChain, \
  kUntoldNotes
// clang-format on
extern const Section SPOTTER_SECTIONS;

}  // namespace spotter::report
