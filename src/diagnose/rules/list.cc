#include "diagnose/rules/list.h"

#include "base/records.h"

namespace spotter::diagnose {

std::span<const Rule* const> all_rules() {
  static constexpr auto kAll = addresses(SPOTTER_RULES);
  return kAll;
}

}  // namespace spotter::diagnose
