#include "report/list.h"

namespace spotter::report {

std::span<const Section* const> all_sections() {
  static constexpr const Section* kAll[] = {
      &kStandsOut, &kDeviceRanks, &kTopKernels, &kHostRanks, &kTopOperators, &kUntoldNotes,
  };
  return kAll;
}

}  // namespace spotter::report
