// Sums, differences and products that stop at the ends of 64 bits: files and other hosts may hold any number.
#pragma once
#include <limits>

#include "base/types.h"

namespace spotter {

// a + b, or the nearest number.
inline i64 add_saturated(i64 a, i64 b) {
  i64 sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<i64>::min() : std::numeric_limits<i64>::max();
}

// a - b, or the nearest number.
inline i64 subtract_saturated(i64 a, i64 b) {
  i64 difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? std::numeric_limits<i64>::max() : std::numeric_limits<i64>::min();
}

// a * b, or the nearest number.
inline i64 multiply_saturated(i64 a, i64 b) {
  i64 product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? std::numeric_limits<i64>::max() : std::numeric_limits<i64>::min();
}

}  // namespace spotter
