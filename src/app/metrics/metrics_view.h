// The last minute of a machine as a person looks at it: a line for each metric, with its newest value and a
// curve.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/notes.h"
#include "render/render.h"
#include "table/table.h"

namespace spotter::app {

// The metrics that are looked at first, as patterns of their names.
std::vector<std::string> first_metrics();

// Of samples in order of their keys and then of time, with counters as rates: the columns metric, of (keys),
// now, most and a curve of at most `cells` characters between nothing and the most.
Table metrics_view(std::span<const Table> samples, size_t cells);

// The same for a terminal of this style, with `notes` below, in at most so many lines (or a header and one
// row, where notes take more). Where it is narrow, the most goes first, then the curves are shorter, then
// names are; the curves go last.
std::string metrics_text(std::span<const Table> samples, const Notes& notes, const render::TextStyle& style,
                         size_t most_lines);

// "▁▃█": NaN is a blank.
std::string curve(std::span<const double> values, size_t cells);

}  // namespace spotter::app
