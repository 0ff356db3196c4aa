// Whether the disks that processes would write traces to have room for some that nobody asked for.
#pragma once
#include <span>
#include <string>

#include "base/system/host.h"
#include "base/types.h"
#include "capture/process_root.h"

namespace spotter::agent {

constexpr i64 kLeastFree = i64{5} << 30;  // bytes

// Whether a disk has so many bytes free, and a tenth of its own.
bool has_room(const capture::Disk& disk, i64 least_free);

// A sentence; empty: there is, or it cannot be told. `directory`: as each of the processes sees it. Waits for
// the disk, or for the server that it is of.
std::string why_no_room(const Host& host, std::span<const i64> pids, const std::string& directory,
                        i64 least_free);

}  // namespace spotter::agent
