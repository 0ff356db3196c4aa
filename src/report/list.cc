#include "report/list.h"

#include "base/records.h"

namespace spotter::report {

std::span<const Section* const> all_sections() {
  static constexpr auto kAll = addresses(SPOTTER_SECTIONS);
  return kAll;
}

}  // namespace spotter::report
