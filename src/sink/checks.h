// What values of options may be. Errors: invalid.
#pragma once
#include <string>

#include "base/result.h"
#include "base/types.h"

namespace spotter::sink {

inline constexpr i64 kMostQueue = 1'000'000;

Result<void> is_duration(const std::string& value);     // "10s"
Result<void> is_size(const std::string& value);         // "64M"
Result<void> is_count(const std::string& value);        // 1 to kMostQueue
Result<void> is_small_count(const std::string& value);  // 0 to 1,000
Result<void> is_path(const std::string& value);         // not empty

}  // namespace spotter::sink
