#include "collect/gpu/nvidia_events.h"

#include <algorithm>

#include "collect/gpu/xid.h"

namespace spotter::collect {
namespace {

constexpr int kMost = 1000;  // of one sample: a GPU in a bad way reports without end

}  // namespace

void XidListener::begin(const collect::nvml::Functions& f, std::span<NvidiaDevice> devices) {
  if (collect::nvml::call(f.nvmlEventSetCreate, &set_) != collect::nvml::kSuccess) {
    set_ = nullptr;
    return;
  }
  for (NvidiaDevice& device : devices) {
    if (device.is_lost) continue;
    const collect::nvml::Return code = collect::nvml::call(f.nvmlDeviceRegisterEvents, device.handle,
                                                           collect::nvml::kXidCriticalError, set_);
    if (code == collect::nvml::kSuccess && !device.xid_errors) device.xid_errors = 0;
  }
}

void XidListener::hear(const collect::nvml::Functions& f, std::span<NvidiaDevice> devices,
                       GpuEvents& events) {
  if (!set_) return;
  for (int i = 0; i < kMost; ++i) {
    collect::nvml::EventData data{};
    data.gpu_instance = data.compute_instance = collect::nvml::kNoInstance;
    if (collect::nvml::call(f.nvmlEventSetWait_v2, set_, &data, u32{0}) != collect::nvml::kSuccess) return;
    const auto device = std::ranges::find(devices, data.device, &NvidiaDevice::handle);
    if (device == devices.end() || data.type != collect::nvml::kXidCriticalError) continue;
    const i64 xid = static_cast<i64>(data.data);
    device->xid_errors = device->xid_errors.value_or(0) + 1;
    device->last_xid = xid;
    ++device->errors_by_xid[xid];
    GpuEvent event{.event = "xid", .gpu = device->index, .uuid = device->uuid, .owner = device->owner};
    if (data.gpu_instance != collect::nvml::kNoInstance) event.instance = data.gpu_instance;
    event.xid = xid;
    event.count = 1;
    event.severity = xid_of(xid).severity;
    event.meaning = xid_of(xid).meaning;
    events.add(std::move(event));
  }
}

void XidListener::end(const collect::nvml::Functions& f) {
  if (set_) collect::nvml::call(f.nvmlEventSetFree, set_);
  set_ = nullptr;
}

}  // namespace spotter::collect
