// Sequences of kernels that recur, one right after the other on their stream.
#pragma once
#include <vector>

#include "trace/device_work.h"
#include "trace/trace.h"

namespace spotter {

struct KernelPattern {
  std::vector<StringId> names;
  i64 count = 0;  // occurrences that do not overlap
  Ns device = 0;  // sum of the durations of what they consist of
  Ns host = 0;    // of the launches behind the first of each occurrence
  Ns gaps = 0;    // in which the stream is idle inside them
};

// Patterns of `least` to `most` rows of device work that occur at least twice. One that is part of a longer
// pattern with as many occurrences is left out. In no order that means something.
std::vector<KernelPattern> kernel_patterns(const Trace& trace, size_t least, size_t most);

}  // namespace spotter
