#include "api/list.h"

#include "base/records.h"

namespace spotter::api {

std::span<const DoorKind* const> all_doors() {
  static constexpr auto kAll = addresses(SPOTTER_DOORS);
  return kAll;
}

}  // namespace spotter::api
