// What was asked for and is not there: for who misspells a metric or a job.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "table/selection.h"
#include "table/table.h"

namespace spotter::app {

// A sentence for each pattern that no metric of this release, and none of the samples, is called by.
std::vector<std::string> unknown_metrics(const table::Selection& selection, std::span<const Table> samples);

// The same, and what is to be said of an answer without rows. Empty: all that was asked for is there.
std::vector<std::string> missed(const table::Selection& selection, std::span<const Table> samples);

}  // namespace spotter::app
