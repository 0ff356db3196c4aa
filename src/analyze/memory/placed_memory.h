// Placed memory: the allocator's events with their places, which cost more than what memory_at_peak and
// memory_by_operator make of them: both are mapped together.
#pragma once
#include <span>
#include <vector>

#include "analyze/analysis.h"
#include "analyze/memory/memory_places.h"

namespace spotter::analyze {

struct PlacedMemory {
  std::vector<MemoryDevice> devices;
  MemoryPlaces places;
  Notes notes;  // of memory_by_device
};
// Reads kMemoryPlaceArgs.
PlacedMemory placed_memory(const Trace& trace);

Table memory_at_peak_table(const Trace& trace, const PlacedMemory& memory, const ParamValues& params);
Table memory_by_operator_table(const Trace& trace, const PlacedMemory& memory, const ParamValues& params);

// Analysis::map_together of the two.
Result<std::vector<Table>> map_placed_memory(const Trace& trace, std::span<const Wanted> wanted);

}  // namespace spotter::analyze
