#include "api/list.h"

namespace spotter::api {

std::span<const DoorKind* const> all_doors() {
  static constexpr const DoorKind* kAll[] = {
      &kLocalDoor,
      &kRemoteDoor,
      &kRpcDoor,
      &kMetricsDoor,
  };
  return kAll;
}

}  // namespace spotter::api
