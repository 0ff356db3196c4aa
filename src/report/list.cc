#include "report/list.h"

namespace spotter::report {

std::span<const Section* const> all_sections() {
  // One on a line, so that a new one is a line.
  // clang-format off
  static constexpr const Section* kAll[] = {
      &kStandsOut,
      &kDeviceRanks,
      &kTopKernels,
      &kHostRanks,
      &kTopOperators,
      &kUntoldNotes,
  };
  // clang-format on
  return kAll;
}

}  // namespace spotter::report
