// Of a job of which some ranks were traced, the group that waits by far the longest for ranks that were not,
// as the traces say (the finding absent_ranks).
#pragma once
#include <optional>

#include "base/text/listed_ranks.h"
#include "table/table.h"

namespace spotter::respond {

// No ranks: no group stands out. Nothing: nobody waits for ranks that were not traced.
std::optional<ListedRanks> waiting_group(const Table& findings);

}  // namespace spotter::respond
