// The devices of a trace by their numbers.
#pragma once
#include <algorithm>
#include <span>

#include "trace/trace.h"

namespace spotter::trace {

// ROCm numbers the devices of the node in events, and those that the process sees in the list of them: what a
// device is that is not listed is known if all that are listed are alike. nullptr: it is not known.
inline const Device* device_of(std::span<const Device> devices, i64 id) {
  if (devices.empty()) return nullptr;
  const auto listed = std::ranges::find(devices, id, &Device::id);
  if (listed != devices.end()) return &*listed;
  const auto is_like_first = [&](const Device& d) {
    const Device& first = devices.front();
    return d.name == first.name && d.memory_bytes == first.memory_bytes && d.sm_count == first.sm_count &&
           d.compute_major == first.compute_major && d.compute_minor == first.compute_minor;
  };
  return std::ranges::all_of(devices, is_like_first) ? &devices.front() : nullptr;
}

}  // namespace spotter::trace
