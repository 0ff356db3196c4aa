// What is measured and where it can be sent, from the records of collectors and sinks: for `spotter metrics
// --list` and docs/metrics.md.
#pragma once
#include "table/selection.h"
#include "table/table.h"

namespace spotter::app {

// A row for each metric that is wanted.
Table metric_list(const table::Selection& selection);
// A row for each collector: how often it samples, and whether it does by default.
Table collector_list();
// A row for each option of each kind of sink.
Table sink_list();
Table sink_option_list();

}  // namespace spotter::app
