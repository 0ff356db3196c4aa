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

namespace spotter::report {

// The report shortens tables itself and adds them up over the ranks, so it wants them whole: takes `top` out
// of the user's parameters, and says how many kernels and operators to list.
size_t take_top(ParamSettings& params);

// Without what findings tell, or what goes without saying.
Notes notes_beside_findings(const Notes& notes);

// The table of findings as paragraphs: sentences are too long for columns.
std::string findings_text(const Table& found, const render::TextStyle& style);

// `tables`: those of fact_analyses(), in any order, with top 0.
std::string report(std::span<const Table> tables, const Notes& notes, const render::TextStyle& style,
                   size_t names);

}  // namespace spotter::report
