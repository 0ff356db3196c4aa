// The ranks that PyTorch lists of a group of processes, in brackets: "13 [32, 33] mesh_tp". Of more than some
// 30 it leaves out those in the middle, or the last: "0 [0, 1, ..., 71] default_pg".
#pragma once
#include <string_view>
#include <vector>

#include "base/types.h"

namespace spotter {

struct ListedRanks {
  std::vector<i64> ranks = {};  // as far as they are listed
  bool is_whole = false;        // these are all; false where none is listed
};

ListedRanks listed_ranks(std::string_view words);

}  // namespace spotter
