// Numbers as people write them.
#pragma once
#include <set>
#include <span>
#include <string>

#include "analyze/run.h"

namespace spotter::analyze {

std::string range_text(std::span<const Range> ranges);  // "0-7, 9"
std::string range_text(const std::set<i64>& numbers);

}  // namespace spotter::analyze
