#include "analyze/memory/allocations.h"

#include <unordered_map>

#include "base/saturated.h"

namespace spotter::analyze {

std::optional<Allocations> pair_allocations(const MemoryDevice& device) {
  Allocations found;
  std::unordered_map<i64, size_t> open;  // by address: index into found.all
  for (u32 i = 0; i < device.events.size(); ++i) {
    const AllocatorEvent& event = device.events[i];
    if (!event.address) return std::nullopt;
    if (event.bytes == 0) continue;
    const auto known = open.find(*event.address);
    if (known != open.end()) found.all[known->second].end = i;
    if (event.bytes > 0) {
      found.unseen_releases += known != open.end();
      open[*event.address] = found.all.size();
      found.all.push_back({.begin = i, .bytes = event.bytes});
    } else if (known != open.end()) {
      found.all[known->second].has_release = true;
      open.erase(known);
    } else {
      found.all.push_back({.end = i, .bytes = subtract_saturated(0, event.bytes), .has_release = true});
    }
  }
  return found;
}

std::optional<Allocations> pair_allocations(const MemoryDevice& device, Table& table) {
  std::optional<Allocations> found = pair_allocations(device);
  if (!found)
    table.notes.add(
        "no_addresses", Severity::info,
        "devices have memory events without addresses, so that releases cannot be matched with allocations; "
        "PyTorch records addresses from 1.12 on");
  else if (found->unseen_releases > 0)
    table.notes.add(
        "unseen_release", Severity::repair,
        "allocations are at an address that is still in use; what was there counts as released by then", -1,
        found->unseen_releases);
  return found;
}

}  // namespace spotter::analyze
