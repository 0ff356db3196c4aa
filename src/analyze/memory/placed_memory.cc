#include "analyze/memory/placed_memory.h"

#include <utility>

#include "analyze/list.h"

namespace spotter::analyze {

PlacedMemory placed_memory(const Trace& trace) {
  Table noted;
  PlacedMemory memory{.devices = memory_by_device(trace, noted), .places = {}, .notes = {}};
  memory.places = memory_places(trace, memory.devices);
  memory.notes = std::move(noted.notes);
  return memory;
}

Result<std::vector<Table>> map_placed_memory(const Trace& trace, std::span<const Wanted> wanted) {
  const PlacedMemory memory = placed_memory(trace);
  std::vector<Table> tables;
  for (const Wanted& one : wanted) {
    const bool is_at_peak = one.analysis == &kMemoryAtPeak;
    CHECK(is_at_peak || one.analysis == &kMemoryByOperator);
    tables.push_back(is_at_peak ? memory_at_peak_table(trace, memory, *one.params)
                                : memory_by_operator_table(trace, memory, *one.params));
  }
  return tables;
}

}  // namespace spotter::analyze
