// Sequences of kernels that recur, one right after the other on their stream.
#pragma once
#include <vector>

#include "trace/device_work.h"
#include "trace/trace.h"

namespace spotter::analyze {

struct KernelPattern {
  std::vector<StringId> names;
  i64 count = 0;  // occurrences; they do not overlap
  Ns device = 0;  // sum of the durations of what they consist of
  Ns host = 0;    // of the launches behind the first of each occurrence
  Ns gaps = 0;    // in which the stream is idle inside them
};

// Found as Re-Pair finds its rules (Larsson and Moffat, Offline dictionary-based compression, 1999): the most
// frequent pair of neighbours becomes one, again and again, for as long as one occurs at least twice; of
// equal ones the first in the trace. What has grown so is not paired with its own kind, so that a layer that
// repeats is one pattern and not two, four, eight of them. A pattern that only ever occurs in one longer
// pattern is left out. The time is O(n log n).
std::vector<KernelPattern> kernel_patterns(const Trace& trace, size_t least);

}  // namespace spotter::analyze
