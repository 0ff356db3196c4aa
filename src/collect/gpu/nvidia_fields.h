// What NVML tells of a GPU by field number, many in one call.
#pragma once
#include <optional>

#include "collect/gpu/nvidia_device.h"

namespace spotter::collect {

struct NvidiaFields {
  std::optional<u64> ecc_corrected_volatile, ecc_uncorrected_volatile, ecc_corrected_aggregate,
      ecc_uncorrected_aggregate, retired_corrected, retired_uncorrected, crc_flit, crc_data, replays,
      recoveries, violation_power, violation_thermal, violation_sync_boost, violation_board_limit,
      violation_low_utilization, violation_reliability, violation_thermal_sw, violation_thermal_hw,
      violation_power_brake,                                                             // ns
      memory_temperature, energy_mj, links, pcie_replays, nvlink_tx_kib, nvlink_rx_kib,  // as the names say
      remapped_correctable, remapped_uncorrectable, remap_pending, remap_failed;
};

// All null where the GPU is lost. Field numbers are those of NVML's NVML_FI_DEV_*.
NvidiaFields read_fields(NvidiaDevice& device, const NvidiaSample& sample);

}  // namespace spotter::collect
