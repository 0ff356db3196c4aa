// The report: what `spotter analyze` shows when no table is asked for. One screen that a person can act on:
// what was traced, what stands out, where device and host spent their time, and what was lost.
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyze/analysis.h"
#include "render/render.h"
#include "table/table.h"

namespace spotter {

// The report shortens tables itself and adds them up over the ranks, so it wants them whole: takes `top` out
// of the user's parameters, and says how many kernels and operators to list.
size_t take_top(ParamSettings& params);

// `tables`: those of fact_analyses(), in any order, with top 0.
std::string report(std::span<const Table> tables, const Notes& notes, const TextStyle& style, size_t names);

}  // namespace spotter
