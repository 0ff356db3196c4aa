// AMD's GPUs as the kernel's driver (amdgpu) tells in /sys. Linux, Documentation/gpu/amdgpu/driver-misc.rst
// and thermal.rst; pcie_bw is not read, since the driver counts for a second while one waits.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/system/host.h"
#include "collect/kernel_file.h"

namespace spotter::collect {

struct AmdReading {
  std::optional<i64> busy, memory_busy;                                     // percent
  std::optional<i64> memory_total, memory_used;                             // bytes
  std::optional<i64> power, power_limit, energy;                            // micro-units
  std::optional<i64> temperature, hotspot_temperature, memory_temperature;  // thousandths of degrees
  std::optional<i64> sm_clock, memory_clock;                                // Hz
  std::optional<i64> fan, fan_max;                                          // a minute
  std::optional<i64> link_generation, link_width, pcie_replays, corrected, uncorrected;
  bool is_lost = false;
};

class AmdSysfsGpu {
 public:
  // `device`: the folder of the PCI device.
  AmdSysfsGpu(std::string device, std::string bus_id);

  AmdReading read();

  // What does not change.
  std::string bus_id, name, serial, unique_id;
  std::optional<i64> numa_node, sm_clock_max, memory_clock_max, link_generation_max, link_width_max;

 private:
  std::optional<i64> number(const char* name);
  void find_sensors();
  void read_errors(AmdReading& reading);

  std::string device_;
  std::map<std::string, KernelFile> files_;  // by path within the folder
  std::vector<std::pair<std::optional<i64> AmdReading::*, std::string>> sensors_;  // of hwmon
  std::vector<std::string> errors_;                                                // of ras
  bool was_read_ = false;                                                          // something could be
};

// By address on the bus.
std::vector<AmdSysfsGpu> find_amd_gpus(const Host& host);

struct AmdProcess {
  i64 pid = 0;
  i64 memory = 0;  // bytes
};
// The processes that compute on GPUs, by address of the GPU: /sys/class/kfd.
std::map<std::string, std::vector<AmdProcess>> read_amd_processes(const Host& host);

}  // namespace spotter::collect
