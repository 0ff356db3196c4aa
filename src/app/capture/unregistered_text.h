// For a person who misses a process among those that can be traced.
#pragma once
#include <string>

#include "table/table.h"

namespace spotter::app {

// A line for each PyTorch process of this host that is not in the table of processes, at most ten; empty if
// there is none.
std::string unregistered_text(const Table& processes);

}  // namespace spotter::app
