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
// now, most and a curve of at most `cells` characters between nothing and the most. What more than
// `most_things` have of one table has one line: their mean, and between whom it is. A thing of which
// something is doubtful (its column quality) has a line that says so, even where it has nothing else.
Table metrics_view(std::span<const Table> samples, size_t cells, size_t most_things = SIZE_MAX);

// The same for a terminal of this style, with `notes` below, in at most so many lines (or a header and one
// row, where notes take more). Where it is narrow, the most goes first, then the curves are shorter, then
// names are; the curves go last.
struct ViewSize {
  size_t most_lines = SIZE_MAX;
  size_t most_things = SIZE_MAX;  // of metrics_view()
};
std::string metrics_text(std::span<const Table> samples, const Notes& notes, const render::TextStyle& style,
                         const ViewSize& size = {});

// "▁▃█": NaN is a blank.
std::string curve(std::span<const double> values, size_t cells);

}  // namespace spotter::app
