// Rates of what iterations of inference work on.
#pragma once
#include <optional>

#include "base/types.h"
#include "table/table.h"

namespace spotter::analyze {

// Null where the tokens are not known, or no time passed.
inline Value tokens_per_s(std::optional<i64> tokens, Ns time) {
  constexpr double kNsPerSecond = 1e9;
  if (!tokens || time <= 0) return {};
  return static_cast<double>(*tokens) * kNsPerSecond / static_cast<double>(time);
}

}  // namespace spotter::analyze
