// NvidiaGpm: NVML's GPU performance monitoring (GPM), on Hopper and newer: the hardware counts between two
// samples. It takes no lock, so that profilers in the process go on. One thread.
#pragma once
#include <map>
#include <optional>
#include <utility>

#include "collect/gpu/gpu_activity.h"
#include "collect/gpu/nvidia_device.h"

namespace spotter::collect {

// Cells of gpu_activity by column; those of others are null.
struct GpmReading {
  ActivityCells cells{};
  Quality quality;
};

class NvidiaGpm {
 public:
  // What was measured since the call before, of the whole GPU or of a GPU instance (MIG). Null: there is
  // nothing to compare with yet, less than 100 ms have passed, or the GPU does not support it.
  std::optional<GpmReading> read(NvidiaDevice& device, std::optional<u32> instance,
                                 const NvidiaSample& sample);
  // Gives all samples back. To be called before NVML ends or begins anew.
  void clear(const collect::nvml::Functions& f);

 private:
  struct Pair {
    collect::nvml::GpmSample last = nullptr, next = nullptr;
    Ns last_at = 0;
    bool has_last = false;
  };
  collect::nvml::Return take(NvidiaDevice& device, std::optional<u32> instance, const NvidiaSample& sample,
                             Pair& pair);

  std::map<std::pair<i64, i64>, Pair> pairs_;  // by index of the GPU and instance
  collect::nvml::GpmMetrics metrics_;
};

}  // namespace spotter::collect
