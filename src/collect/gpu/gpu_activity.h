// What both sources of gpu_activity check: nvidia (GPM) and dcgm.
#pragma once
#include <array>
#include <optional>

#include "collect/gpu/gpu_quality.h"
#include "collect/gpu/gpu_tables.h"

namespace spotter::collect {

using ActivityCells = std::array<std::optional<double>, gpu_activity::kColumnCount>;

// A GPU in which kernels ran all the time while no SM ever had a warp: profiling counters can stand still at
// 0 (after XID 31: DCGM issue 303). Then no ratio of the row is a number.
inline void doubt_idle_sms(std::optional<double> utilization, ActivityCells& cells, Quality& quality) {
  if (!utilization || *utilization < 0.99 || cells[gpu_activity::sm_active_ratio] != 0.0) return;
  for (size_t i = gpu_activity::graphics_active_ratio; i <= gpu_activity::dram_active_ratio; ++i)
    cells[i].reset();
  quality.add(Doubt::contradictory);
}

}  // namespace spotter::collect
