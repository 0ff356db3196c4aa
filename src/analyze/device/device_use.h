// How much of a device kernels use in windows of time, as the TensorBoard profiler plugin's overview adds it
// up (torch-tb-profiler 0.4.3).
#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "analyze/steps/step_windows.h"
#include "table/table.h"
#include "trace/device_work.h"
#include "trace/facts/tensor_cores.h"

namespace spotter::analyze {

struct DeviceUse {
  Ns busy = 0;                              // any kernel runs
  std::optional<double> sm_efficiency;      // mean part of the multiprocessors with a block to run
  std::optional<double> occupancy;          // mean of the kernels, by their time
  Ns kernels = 0, tensor = 0, unknown = 0;  // sums over kernels: all, those on tensor cores, perhaps on them
};

inline const ArgSet kDeviceUseArgs = trace::kDeviceWorkArgs | ArgSet{Arg::blocks_per_sm, Arg::occupancy};

// One for each of the windows, which are disjoint and by start; `tensor_cores` is per row of DeviceWork.
std::vector<DeviceUse> device_use(const Trace& trace, std::span<const trace::TensorCores> tensor_cores,
                                  i64 device, std::span<const StepWindow> windows);

// The columns that tell it.
inline constexpr Field kDeviceUseFields[] = {
    {"utilization_ratio", Type::real, Unit::ratio, Role::value, "Part of the time in which a kernel runs."},
    {"sm_efficiency_ratio", Type::real, Unit::ratio, Role::value,
     "Mean part of the multiprocessors that have a block to run, idle time included; null where no kernel "
     "says its blocks per SM (only CUDA's do)."},
    {"occupancy_ratio", Type::real, Unit::ratio, Role::value,
     "Mean estimated achieved occupancy of the kernels, by their time; null where none says it."},
    {"tensor_core_ratio", Type::real, Unit::ratio, Role::value,
     "Part of the kernels' time that is of kernels on tensor cores; null without kernels."},
    {"tensor_core_unknown_ratio", Type::real, Unit::ratio, Role::detail,
     "Part of the kernels' time that is of kernels whose names do not tell; null without kernels."},
};
// Their values, in a window of that length.
std::array<Value, std::size(kDeviceUseFields)> values_of(const DeviceUse& use, Ns window);

}  // namespace spotter::analyze
