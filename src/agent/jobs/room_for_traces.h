// Whether the disks that a job's processes would write traces to have room for some that nobody asked for.
#pragma once
#include <string>

#include "base/system/host.h"
#include "base/types.h"
#include "kineto/registry.h"

namespace spotter::agent {

constexpr i64 kLeastFree = i64{5} << 30;  // bytes

// A sentence; empty: there is, or it cannot be told. As each process of this host sees `directory`. Asked for
// are `least_free` bytes, and a tenth of the disk; 0 asks for nothing.
std::string why_no_room(const kineto::Registry& registry, const Host& host, const std::string& job,
                        const std::string& directory, i64 least_free);

}  // namespace spotter::agent
