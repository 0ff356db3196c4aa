// Who a uid is, where not every user has one. In a user namespace all users that it does not map look like
// one, the overflow uid (65534): two of them are not the same, and no right may follow from it. In a
// namespace that maps everybody that number is a user like any other.
#pragma once
#include <optional>
#include <string_view>

#include "base/types.h"

namespace spotter {

// The uid that unmapped users have in this process's namespace; nullopt: nobody is unmapped.
std::optional<i64> unmapped_uid();

// The same from what /proc/self/uid_map and /proc/sys/kernel/overflowuid say. What cannot be read is taken
// for the worst.
std::optional<i64> unmapped_uid(std::string_view uid_map, std::string_view overflow_uid);

}  // namespace spotter
