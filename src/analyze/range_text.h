// Numbers as people write them.
#pragma once
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analyze/run.h"

namespace spotter::analyze {

std::string range_text(std::span<const Range> ranges);  // "0-7, 9"
std::string range_text(const std::set<i64>& numbers);

// Errors: invalid.
Result<std::vector<Range>> parse_ranges(const std::string& text);  // "0,3-7" -> {0,0},{3,7}
Result<Range> parse_range(const std::string& text);                // "2-5", "3"

}  // namespace spotter::analyze
