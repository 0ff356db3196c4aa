// Every door, in the order in which the status tells of them.
#pragma once
#include <span>

#include "api/door.h"

namespace spotter::api {

extern const DoorKind kLocalDoor;
extern const DoorKind kRemoteDoor;
extern const DoorKind kRpcDoor;
extern const DoorKind kMetricsDoor;

std::span<const DoorKind* const> all_doors();

}  // namespace spotter::api
