#include "diagnose/mechanisms/list.h"

#include "base/records.h"

namespace spotter::diagnose {

std::span<const Mechanism* const> all_mechanisms() {
  static constexpr auto kAll = addresses(SPOTTER_MECHANISMS);
  return kAll;
}

}  // namespace spotter::diagnose
