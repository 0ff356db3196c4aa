// What the tables about GPUs have in common: which GPU a row is about, and whose it is.
#pragma once
#include "respond/rules/columns.h"
#include "respond/rules/rule.h"

namespace spotter::respond {

// The first names of a list of columns of such a table.
#define SPOTTER_GPU_NAMES "gpu", "job", "rank", "user"
enum GpuColumn : size_t { kGpu, kGpuJob, kGpuRank, kGpuUser, kGpuColumns };

inline Condition gpu_condition(const Columns& columns, size_t row) {
  Condition condition;
  condition.job = columns.text(row, kGpuJob);
  condition.rank = columns.integer(row, kGpuRank);
  condition.user = columns.text(row, kGpuUser);
  condition.device = fmt::format("gpu {}", columns.integer(row, kGpu).value_or(-1));
  condition.source = "driver";
  return condition;
}

}  // namespace spotter::respond
