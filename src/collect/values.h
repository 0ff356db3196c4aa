// Cells of collectors' rows.
#pragma once
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "table/table.h"

namespace spotter::collect {

template <class T>
Value or_null(const std::optional<T>& value) {
  return value ? Value(*value) : Value();
}

// A count in another unit; null where 63 bits are too few for it (to_integer() then gives the largest
// number), and of a number below zero, which is no count.
inline std::optional<i64> scaled(std::optional<i64> count, i64 factor) {
  i64 product = 0;
  if (!count || *count < 0 || *count == std::numeric_limits<i64>::max() ||
      __builtin_mul_overflow(*count, factor, &product))
    return std::nullopt;
  return product;
}

// An empty text is null.
inline Value or_null(std::string_view text) { return text.empty() ? Value() : Value(text); }

}  // namespace spotter::collect
