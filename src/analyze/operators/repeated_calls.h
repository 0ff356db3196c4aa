// A call that is all that a call of the same operator calls: an overload that only passes on to another one.
// It is no call of its own, as in PyTorch's own profiler.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace spotter::analyze {

// Per call. `around`: of each the call around it, or kNone; name_of(i): what its operator is called.
template <class F>
std::vector<u8> repeated_calls(std::span<const u32> around, F name_of) {
  std::vector<u32> inner_calls(around.size());
  for (const u32 call : around)
    if (call != kNone) ++inner_calls[call];
  std::vector<u8> repeats(around.size());
  for (u32 i = 0; i < around.size(); ++i)
    repeats[i] = around[i] != kNone && inner_calls[around[i]] == 1 && name_of(around[i]) == name_of(i);
  return repeats;
}

}  // namespace spotter::analyze
