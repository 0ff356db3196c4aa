// ProfilingPause: whether the GPUs' profiling counters are left to somebody else for a while. Before Hopper a
// profiler in the process and DCGM's profiling exclude each other. Any thread; times of a steady clock.
#pragma once
#include <atomic>

#include "base/types.h"

namespace spotter::collect {

class ProfilingPause {
 public:
  // Replaces a pause that is under way. It ends by itself.
  void until(Ns steady) { until_ = steady; }
  void end() { until_ = 0; }
  bool is_on(Ns steady_now) const { return steady_now < until_; }

 private:
  std::atomic<Ns> until_ = 0;
};

}  // namespace spotter::collect
