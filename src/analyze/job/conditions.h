// Whether two jobs can be held against each other.
#pragma once
#include "base/notes.h"
#include "table/table.h"

namespace spotter::analyze {

// Of the answers of `conditions`: a note for each fact in which the jobs differ, and one that lists those
// that only one of them tells.
Notes differing_conditions(const Table& before, const Table& after);

}  // namespace spotter::analyze
