// Memory categories: what memory is held for, as far as its lifetime and the phases of training tell.
#pragma once
#include "analyze/memory/allocations.h"
#include "analyze/memory/memory_places.h"

namespace spotter::analyze {

enum class MemoryCategory : u8 { parameters, gradients, optimizer_state, activations, temporaries, unknown };
inline constexpr size_t kMemoryCategories = 6;
const char* name_of(MemoryCategory category);

// `places`: of the device's events. The definition is that of memory_at_peak.
MemoryCategory category_of(const Allocation& allocation, const MemoryDevice& device,
                           const std::vector<MemoryPlace>& places, const Passes& passes);

}  // namespace spotter::analyze
