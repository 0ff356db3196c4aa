// The row of a GPU, as NVML tells.
#pragma once
#include <optional>

#include "collect/gpu/gpu_tables.h"
#include "collect/gpu/nvidia_device.h"

namespace spotter::collect {

struct GpuMemory {
  std::optional<i64> total, used, free, reserved;  // bytes
};

// Of a GPU or an instance. More in use than there is, is no number.
GpuMemory read_memory(const collect::nvml::Functions& f, collect::nvml::Device handle, Quality& quality);

// Reads what the driver tells now and appends it. Of a GPU that is lost, or gets lost meanwhile, only who it
// is.
void append_gpu(Table& table, NvidiaDevice& device, const NvidiaSample& sample, std::string_view driver,
                GpuEvents& events);

}  // namespace spotter::collect
