// How many rows the longest tables list.
#pragma once
#include "analyze/analysis.h"

namespace spotter::analyze {

inline constexpr Param kTop = {"top", 20,
                               "list this many kernels or operators, those that take the most time (per "
                               "rank, the rest in one row: others); "
                               "0 lists all"};

}  // namespace spotter::analyze
