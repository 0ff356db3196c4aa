// The report: what `spotter analyze` shows when no table is asked for. One screen that a person can act on:
// what was traced, what stands out, where device and host spent their time, and what was lost.
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "render/render.h"
#include "table/table.h"

namespace spotter {

// The report shortens tables itself and so wants them whole; sets what the user has not.
void set_report_params(std::vector<std::pair<std::string, i64>>& params);

// `tables`: every analysis, in any order.
std::string report(std::span<const Table> tables, const Notes& notes, const TextStyle& style);

}  // namespace spotter
