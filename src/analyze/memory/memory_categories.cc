#include "analyze/memory/memory_categories.h"

namespace spotter::analyze {

const char* name_of(MemoryCategory category) {
  static constexpr const char* kNames[] = {"parameters",  "gradients",   "optimizer_state",
                                           "activations", "temporaries", "unknown"};
  static_assert(std::size(kNames) == kMemoryCategories);
  return kNames[static_cast<size_t>(category)];
}

MemoryCategory category_of(const Allocation& allocation, const MemoryDevice& device,
                           const std::vector<MemoryPlace>& places, const Passes& passes) {
  using enum MemoryCategory;
  if (allocation.begin == kNone) return unknown;
  const bool is_held = allocation.end == kNone;
  if (!is_held && !allocation.has_release) return unknown;
  const MemoryPlace& place = places[allocation.begin];
  const Ns begin = device.events[allocation.begin].time;
  const Ns end = is_held ? kMaxTime : device.events[allocation.end].time;
  const auto outlives = [&](Ns time) { return is_held || end > time; };
  switch (place.phase) {
    case TrainingPhase::optimizer:
      return outlives(place.work_end) ? optimizer_state : temporaries;
    case TrainingPhase::backward:
      return outlives(passes.end_of(TrainingPhase::backward, begin)) ? gradients : temporaries;
    case TrainingPhase::forward: {
      const Ns backward = passes.end_of(TrainingPhase::forward, begin);
      if (backward == kMaxTime) return is_held ? unknown : temporaries;
      return outlives(backward) ? activations : temporaries;
    }
    case TrainingPhase::other:
      break;
  }
  if (place.makes_module) return outlives(place.work_end) ? parameters : temporaries;
  return place.op != kNone && !outlives(place.work_end) ? temporaries : unknown;
}

}  // namespace spotter::analyze
