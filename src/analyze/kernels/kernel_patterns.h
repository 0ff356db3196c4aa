// Sequences of kernels that recur, one right after the other on their stream.
#pragma once
#include <vector>

#include "trace/device_work.h"
#include "trace/trace.h"

namespace spotter::analyze {

struct KernelPattern {
  std::vector<StringId> names;
  i64 count = 0;     // occurrences
  Ns device = 0;     // sum of the durations of what they consist of
  i64 launches = 0;  // host calls that start nothing but work of one occurrence, without the first of each
  Ns host = 0;       // sum of their durations
  Ns gaps = 0;       // in which the stream is idle inside the occurrences
};

// Which ones is found as Re-Pair finds its rules (Larsson and Moffat, Offline dictionary-based compression,
// 1999): the most frequent pair of neighbours becomes one, again and again, for as long as one occurs at
// least twice; of equal ones the first in the trace. What has grown so is not paired with its own kind, so
// that a layer that repeats is one pattern and not two, four, eight of them. A pattern that is only ever
// found as part of one longer pattern is left out. The time is O(n log n).
//
// What occurs how often is counted on its own: along each stream, each occurrence the first that begins where
// the one before it has ended, or later. So they do not overlap, and no choice of others is larger.
std::vector<KernelPattern> kernel_patterns(const Trace& trace, size_t least);

}  // namespace spotter::analyze
