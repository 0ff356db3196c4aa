// Calls of the device's allocator within steps, as two mechanisms look at them: with memory to spare, and
// without.
#pragma once
#include <optional>
#include <string>

#include "diagnose/mechanism.h"

namespace spotter::diagnose {

// Of a device's memory: what is reserved beyond it leaves no room for another block.
inline constexpr double kFull = 0.95;

// Of the ranks whose memory is full, or of the others; without `what`. None where there are no such calls, or
// only in the first step: while memory is taken for the first time that is as it should be.
struct Allocations {
  Candidate candidate;
  std::string calls = {};  // "4 calls a step", "40 calls in step 7"
  double held = 0;         // the most of a device's memory among them
};
std::optional<Allocations> allocations(const JobModel& model, bool is_full);

}  // namespace spotter::diagnose
