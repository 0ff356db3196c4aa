// Count and durations of each kernel of a trace: what both kernel analyses start from. A kernel is a name and
// a kind; "kernel" stands for copies and sets too.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "trace/device_work.h"
#include "trace/trace.h"

namespace spotter::analyze {

struct Durations {
  i64 count = 0;
  Ns sum = 0, min = std::numeric_limits<Ns>::max(), max = std::numeric_limits<Ns>::min();

  void add(Ns dur) { merge({1, dur, dur, dur}); }
  void merge(const Durations& o) {
    count += o.count;
    sum += o.sum;
    min = std::min(min, o.min);
    max = std::max(max, o.max);
  }
  double mean() const { return static_cast<double>(sum) / static_cast<double>(count); }  // of at least one
};

struct Kernel {
  trace::WorkKind kind = trace::WorkKind::compute;
  StringId name = 0;
  Durations durations;
};

struct Kernels {
  std::vector<Kernel> kernels;  // in order of first arrival
  std::vector<u32> of_row;      // per row of DeviceWork: index into `kernels`
};

Kernels compute_kernels(const Trace& trace);

// A sequence of kernels as text, joined by " -> ", and the order of two by their texts. Of more than so many
// the middle is left out, and its number told: a step or a graph has thousands, whose names are megabytes.
inline constexpr size_t kMostJoined = 32;
std::string joined(const Trace& trace, std::span<const StringId> names);
bool is_before(const Trace& trace, std::span<const StringId> a, std::span<const StringId> b);

}  // namespace spotter::analyze
