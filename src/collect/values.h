// Numbers of collectors' rows.
#pragma once
#include <limits>
#include <optional>

#include "base/time.h"
#include "table/table.h"

namespace spotter::collect {

// A count in another unit; null where 63 bits are too few for it (to_integer() then gives the largest
// number), and of a number below zero, which is no count.
inline std::optional<i64> scaled(std::optional<i64> count, i64 factor) {
  i64 product = 0;
  if (!count || *count < 0 || *count == std::numeric_limits<i64>::max() ||
      __builtin_mul_overflow(*count, factor, &product))
    return std::nullopt;
  return product;
}

}  // namespace spotter::collect
