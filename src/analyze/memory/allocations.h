// Allocations: which release frees which allocation. They are matched by address on one device: two devices
// may use one address at the same time.
#pragma once
#include <optional>
#include <vector>

#include "analyze/memory/allocator_events.h"

namespace spotter::analyze {

// A piece of memory from its allocation to its release. `begin` and `end` are indices into the device's
// events.
struct Allocation {
  u32 begin = kNone;  // kNone: it was allocated before the recording
  u32 end = kNone;    // from when on it is not held any more; kNone: it is held when the recording ends
  i64 bytes = 0;      // as allocated
  bool has_release = false;  // else `end` is the next allocation at its address: its release went unseen
};

struct Allocations {
  std::vector<Allocation> all;  // by the first event of each
  i64 unseen_releases = 0;
};

// nullopt where an event has no address, as before PyTorch 1.12.
std::optional<Allocations> pair_allocations(const MemoryDevice& device);

// The same, and says in `table` what is missing.
std::optional<Allocations> pair_allocations(const MemoryDevice& device, Table& table);

}  // namespace spotter::analyze
