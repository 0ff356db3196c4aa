// XidListener: hears of the XID errors that the driver reports. One thread.
#pragma once
#include <span>

#include "collect/gpu/nvidia_device.h"

namespace spotter::collect {

class XidListener {
 public:
  // For all devices that are not lost; sets the counts of those that can be heard.
  void begin(const collect::nvml::Functions& f, std::span<NvidiaDevice> devices);
  // What was reported since the call before; does not wait.
  void hear(const collect::nvml::Functions& f, std::span<NvidiaDevice> devices, GpuEvents& events);
  // To be called before NVML ends or begins anew.
  void end(const collect::nvml::Functions& f);

 private:
  collect::nvml::EventSet set_ = nullptr;
};

}  // namespace spotter::collect
