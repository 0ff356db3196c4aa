// The instances of a GPU that is divided (MIG).
#pragma once
#include "collect/gpu/nvidia_gpm.h"
#include "collect/gpu/nvidia_processes.h"

namespace spotter::collect {

// A row for each compute instance. What hardware counters tell is that of the GPU instance around it.
void append_instances(Table& table, NvidiaDevice& device, const NvidiaSample& sample, NvidiaGpm& gpm,
                      const std::vector<GpuProcess>& processes);

}  // namespace spotter::collect
