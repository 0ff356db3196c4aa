// How much of each GPU the kernels use: the pieces of time that the plugin's numbers and curves are made of.
// Only kernels that say their device count.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "analyze/tb_plugin/events.h"

namespace spotter::analyze::tb_plugin {

struct GpuPiece {
  UsInterval time;
  double part = 0;  // of the multiprocessors
};

struct GpuKernel {
  UsInterval time;
  std::optional<double> blocks, occupancy;  // blocks per SM; in percent
};

using Gpus = std::map<i64, std::vector<GpuKernel>>;  // by device, the kernels by start
Gpus gpus_of(const Trace& trace, const Events& events);

UsIntervals busy_times(const std::vector<GpuKernel>& kernels);  // merged
// Where kernels' blocks per SM add up to more than 0: min(sum, 1). By start; disjoint. What remains of a sum
// of doubles may be a piece of 1e-14.
std::vector<GpuPiece> multiprocessor_pieces(const std::vector<GpuKernel>& kernels);

// The profiler's own span, else from the first event's start to the last one's end.
UsInterval whole_range(const Trace& trace, const Events& events);
// Of the smallest power of ten of which there are no more than 100; the last one has the remainder, too.
std::vector<UsInterval> buckets_of(const UsInterval& range);

inline const ArgSet kGpuArgs = {Arg::device, Arg::blocks_per_sm, Arg::occupancy};

}  // namespace spotter::analyze::tb_plugin
