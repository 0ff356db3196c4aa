// What was measured of the ranks that a capture looks at, since they are slow and before: a table `measured`,
// made where agents are asked, judged where the incident is led (compare.h).
#pragma once
#include <span>
#include <string>

#include "base/time.h"
#include "table/table.h"

namespace spotter::respond {

// How long ago what is looked at begins and ends, and at most how fine it is.
struct Stretch {
  Ns since = 0, until = 0, step = 0;
};
// Of a job that has been slow for so long; not known, 0: of the last minute, and nothing before.
Stretch slow_stretch(Ns slow_for);
Stretch stretch_before(Ns slow_for);

inline constexpr i64 kLeastMeasured = 3;  // samples of a value that is judged

// Of the tables that agents give of own_work_metrics(), as rates; of several agents with a column `host`. A
// row per rank, GPU or host and metric: the median of its samples now, and before. Rows of other jobs are
// left out, and what GPUs did that had no work.
Table measured(std::span<const Table> now, std::span<const Table> before, const std::string& job);

}  // namespace spotter::respond
