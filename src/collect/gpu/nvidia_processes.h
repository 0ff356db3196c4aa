// The processes on a GPU, as NVML tells.
#pragma once
#include <optional>
#include <vector>

#include "collect/gpu/gpu_tables.h"
#include "collect/gpu/nvidia_device.h"

namespace spotter::collect {

struct GpuProcess {
  i64 pid = 0;
  bool is_compute = false, is_graphics = false;
  std::optional<i64> memory;  // bytes
  std::optional<u32> instance, compute_instance;
  std::optional<double> sm, memory_busy, encoder, decoder;  // ratios
  Who who;
};

// By pid. None where the driver does not tell.
std::vector<GpuProcess> read_processes(NvidiaDevice& device, const NvidiaSample& sample,
                                       Identities* identities);

void append_processes(Table& table, const NvidiaDevice& device, const std::vector<GpuProcess>& processes);

}  // namespace spotter::collect
