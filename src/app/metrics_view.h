// The last minute of a machine as a person looks at it: a line for each metric, with its newest value and a
// curve.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "table/table.h"

namespace spotter {

// The metrics that are looked at first, as patterns of their names.
std::vector<std::string> first_metrics();

// Of samples in order of their keys and then of time, with counters as rates: the columns metric, of (keys),
// now, most and a curve of at most `cells` characters between nothing and the most.
Table metrics_view(std::span<const Table> samples, size_t cells);

// "▁▃█": NaN is a blank.
std::string curve(std::span<const double> values, size_t cells);

}  // namespace spotter
