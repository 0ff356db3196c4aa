// Turns: where a sequence of work repeats itself. iterations.h has the rules.
#pragma once
#include <optional>
#include <span>

#include "trace/iterations/work_sequence.h"

namespace spotter::trace {

struct Turns {
  std::vector<u32> bounds;  // turn i is items [bounds[i], bounds[i + 1])
  StringId mark = 0;        // ends each; of a period the first of it
};

std::optional<Turns> find_turns(const WorkSequence& sequence, size_t names, bool has_device_work);
std::optional<Turns> find_period(const WorkSequence& sequence);

}  // namespace spotter::trace
