// What is measured, from the records of the collectors: for `spotter metrics --list` and docs/metrics.md.
#pragma once
#include <span>
#include <string>

#include "table/table.h"

namespace spotter {

// A row for each metric whose name matches one of the patterns (base/glob.h); none: for all.
Table metric_list(std::span<const std::string> patterns);
// A row for each collector: how often it samples, and whether it does by default.
Table collector_list();

}  // namespace spotter
