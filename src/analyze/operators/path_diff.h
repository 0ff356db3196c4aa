// What changed from one job to another, path by path: their `paths`, in time per step.
#pragma once
#include "analyze/analysis.h"

namespace spotter::analyze {

inline constexpr Param kByShapesOfPaths = {
    "path_shapes", 0, "1: operators with operands of different shapes are paths of their own"};

// Of the answers of `paths`. One row per path that occurs in either, the largest change of its own time
// (self, on the device, or on the host if no path has device time) first. Times are per step of a rank.
Table path_diff(const Table& before, const Table& after);

// Whether a row of it shows no change: called as often, and in time less than what text shows as 0.1 %.
bool is_unchanged_path(const Table& diff, size_t row);

}  // namespace spotter::analyze
