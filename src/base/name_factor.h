// NAME=FACTOR: what has NAME in its name takes FACTOR of its time.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace spotter {

struct NameFactor {
  std::string name;
  double factor = 1;
};

// Of the last "=", since names may have one: "gemm=0.5". Errors: invalid (no name; a factor that is no
// decimal number from 0 to 1,000,000).
Result<NameFactor> parse_name_factor(std::string_view text);

}  // namespace spotter
