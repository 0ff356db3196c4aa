// WaitingGroup: of a job of which some ranks were traced, the group that waits by far the longest for ranks
// that were not, as the traces say (the finding absent_ranks).
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "table/table.h"

namespace spotter::respond {

struct WaitingGroup {
  std::vector<i64> ranks = {};  // of the group, as far as they are listed; none: no group stands out
  bool is_whole = false;        // all of them are
};

// "13 [32, 33] mesh_tp"; traces list some 30 of a larger group, and dots.
WaitingGroup waiting_group(std::string_view words);
// By the findings of its traces; nothing: nobody waits for ranks that were not traced.
std::optional<WaitingGroup> waiting_group_in(const Table& findings);

}  // namespace spotter::respond
