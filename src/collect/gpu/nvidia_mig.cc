#include "collect/gpu/nvidia_mig.h"

#include <algorithm>
#include <utility>

#include "collect/gpu/nvidia_gpu.h"
#include "collect/gpu/owner.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr u32 kMostInstances = 64;  // seven so far

constexpr std::pair<size_t, size_t> kActivity[] = {
    {gpu_mig::graphics_active_ratio, gpu_activity::graphics_active_ratio},
    {gpu_mig::sm_active_ratio, gpu_activity::sm_active_ratio},
    {gpu_mig::sm_occupancy_ratio, gpu_activity::sm_occupancy_ratio},
    {gpu_mig::tensor_active_ratio, gpu_activity::tensor_active_ratio},
    {gpu_mig::dram_active_ratio, gpu_activity::dram_active_ratio},
};

Who owner_of_instance(const std::vector<GpuProcess>& processes, u32 instance, u32 compute_instance) {
  std::vector<Who> inside;
  for (const GpuProcess& process : processes) {
    if (process.instance == instance &&
        process.compute_instance.value_or(compute_instance) == compute_instance)
      inside.push_back(process.who);
  }
  return owner_of(inside);
}

}  // namespace

void append_instances(Table& table, NvidiaDevice& device, const NvidiaSample& sample, NvidiaGpm& gpm,
                      const std::vector<GpuProcess>& processes) {
  const collect::nvml::Functions& f = sample.f;
  u32 most = 0;
  if (device.is_lost ||
      collect::nvml::call(f.nvmlDeviceGetMaxMigDeviceCount, device.handle, &most) != collect::nvml::kSuccess)
    return;
  std::map<u32, std::optional<GpmReading>> readings;  // several compute instances share a GPU instance
  for (u32 i = 0; i < std::min(most, kMostInstances); ++i) {
    collect::nvml::Device mig = nullptr;
    u32 instance = 0, compute_instance = 0;
    if (collect::nvml::call(f.nvmlDeviceGetMigDeviceHandleByIndex, device.handle, i, &mig) !=
            collect::nvml::kSuccess ||
        collect::nvml::call(f.nvmlDeviceGetGpuInstanceId, mig, &instance) != collect::nvml::kSuccess)
      continue;
    Row row(gpu_mig::kColumnCount);
    Quality quality;
    row[gpu_mig::gpu] = device.index;
    row[gpu_mig::instance] = i64{instance};
    if (collect::nvml::call(f.nvmlDeviceGetComputeInstanceId, mig, &compute_instance) ==
        collect::nvml::kSuccess)
      row[gpu_mig::compute_instance] = i64{compute_instance};
    char uuid[97] = {};
    if (collect::nvml::call(f.nvmlDeviceGetUUID, mig, uuid, u32{96}) == collect::nvml::kSuccess)
      row[gpu_mig::uuid] = or_null(std::string_view(uuid));
    const Who owner = owner_of_instance(processes, instance, compute_instance);
    set_owner(row, gpu_mig::job, owner);
    collect::nvml::Attributes attributes{};
    if (collect::nvml::call(f.nvmlDeviceGetAttributes_v2, mig, &attributes) == collect::nvml::kSuccess)
      row[gpu_mig::multiprocessors] = i64{attributes.multiprocessors};
    const GpuMemory memory = read_memory(f, mig, quality);
    row[gpu_mig::memory_total_bytes] = or_null(memory.total);
    row[gpu_mig::memory_used_bytes] = or_null(memory.used);
    row[gpu_mig::memory_free_bytes] = or_null(memory.free);
    const auto [reading, is_new] = readings.try_emplace(instance);
    if (is_new) reading->second = gpm.read(device, instance, sample);
    if (const auto& values = reading->second) {
      for (const auto& [to, from] : kActivity) row[to] = or_null(values->cells[from]);
      quality.add(values->quality);
    }
    const std::string text = quality.text();
    row[gpu_mig::quality] = or_null(text);
    table.append(row);
  }
}

}  // namespace spotter::collect
