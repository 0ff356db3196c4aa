// Every door, in the order in which the status tells of them.
#pragma once
#include <span>

#include "api/door.h"

namespace spotter::api {

// One on a line, so that a new one is a line.
// clang-format off
#define SPOTTER_DOORS \
  kLocalDoor, \
  kRemoteDoor, \
  kRpcDoor, \
  kMetricsDoor
// clang-format on
extern const DoorKind SPOTTER_DOORS;

std::span<const DoorKind* const> all_doors();

}  // namespace spotter::api
