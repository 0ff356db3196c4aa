#include "api/list.h"

namespace spotter::api {

std::span<const DoorKind* const> all_doors() {
  // One on a line, so that a new one is a line.
  // clang-format off
  static constexpr const DoorKind* kAll[] = {
      &kLocalDoor,
      &kRemoteDoor,
      &kRpcDoor,
      &kMetricsDoor,
  };
  // clang-format on
  return kAll;
}

}  // namespace spotter::api
