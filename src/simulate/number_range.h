// NumberRange: numbers as people write them: 3, 2-5, or 4- for all from there on.
#pragma once
#include <limits>
#include <optional>
#include <string_view>

#include "base/types.h"

namespace spotter::simulate {

struct NumberRange {
  i64 first = 0, last = std::numeric_limits<i64>::max();  // both belong to it
  bool has(i64 number) const { return number >= first && number <= last; }
  bool is_open() const { return last == std::numeric_limits<i64>::max(); }
};

std::optional<NumberRange> parse_number_range(std::string_view text);

}  // namespace spotter::simulate
