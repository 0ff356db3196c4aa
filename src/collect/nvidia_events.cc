#include "collect/nvidia_events.h"

#include <algorithm>

#include "collect/xid.h"

namespace spotter::collect {
namespace {

constexpr int kMost = 1000;  // of one sample: a GPU in a bad way reports without end

}  // namespace

void XidListener::begin(const nvml::Functions& f, std::span<NvidiaDevice> devices) {
  if (nvml::call(f.nvmlEventSetCreate, &set_) != nvml::kSuccess) {
    set_ = nullptr;
    return;
  }
  for (NvidiaDevice& device : devices) {
    if (device.is_lost) continue;
    const nvml::Return code =
        nvml::call(f.nvmlDeviceRegisterEvents, device.handle, nvml::kXidCriticalError, set_);
    if (code == nvml::kSuccess && !device.xid_errors) device.xid_errors = 0;
  }
}

void XidListener::hear(const nvml::Functions& f, std::span<NvidiaDevice> devices, GpuEvents& events) {
  if (!set_) return;
  for (int i = 0; i < kMost; ++i) {
    nvml::EventData data{};
    data.gpu_instance = data.compute_instance = nvml::kNoInstance;
    if (nvml::call(f.nvmlEventSetWait_v2, set_, &data, u32{0}) != nvml::kSuccess) return;
    const auto device = std::ranges::find(devices, data.device, &NvidiaDevice::handle);
    if (device == devices.end() || data.type != nvml::kXidCriticalError) continue;
    const i64 xid = static_cast<i64>(data.data);
    device->xid_errors = device->xid_errors.value_or(0) + 1;
    device->last_xid = xid;
    GpuEvent event{.event = "xid", .gpu = device->index, .uuid = device->uuid, .owner = device->owner};
    if (data.gpu_instance != nvml::kNoInstance) event.instance = data.gpu_instance;
    event.xid = xid;
    event.count = 1;
    event.meaning = xid_meaning(xid);
    events.add(std::move(event));
  }
}

void XidListener::end(const nvml::Functions& f) {
  if (set_) nvml::call(f.nvmlEventSetFree, set_);
  set_ = nullptr;
}

}  // namespace spotter::collect
