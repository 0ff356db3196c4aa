// Which calls are one row, of the tables of operators and kernels.
#pragma once
#include "analyze/analysis.h"

namespace spotter::analyze {

inline constexpr Param kByShapes = {"by_shapes", 1, "0: calls with operands of different shapes are one row"};
inline constexpr Param kByStack = {"by_stack", 0,
                                   "1: calls from different Python call stacks are rows of their own"};
inline constexpr Param kByLaunch = {
    "by_launch", 0,
    "1: what differs in operator, grid, block, registers or shared memory is a row of its own"};

}  // namespace spotter::analyze
