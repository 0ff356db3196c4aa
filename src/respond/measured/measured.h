// What was measured of the ranks that a capture looks at, while they were slow: a table `measured`, made
// where agents are asked, judged where the incident is led (compare.h).
#pragma once
#include <span>
#include <string>

#include "base/time.h"
#include "table/table.h"

namespace spotter::respond {

inline constexpr Ns kMeasuredOver = kMinute;  // until now
inline constexpr Ns kMeasuredEach = 5 * kSecond;
inline constexpr i64 kLeastMeasured = 3;  // samples of a value that is judged

// Of the tables that agents give of own_work_metrics(), as rates; of several agents with a column `host`. A
// row per rank, GPU or host and metric: the median of its samples. Rows of other jobs are left out, and what
// GPUs did that had no work.
Table measured(std::span<const Table> samples, const std::string& job);

}  // namespace spotter::respond
