// Words of the command line -> values. Errors: invalid.
#pragma once
#include <string>
#include <vector>

#include "analyze/run.h"
#include "base/quantity.h"
#include "base/result.h"

namespace spotter::app {

Result<std::vector<analyze::Range>> parse_ranges(const std::string& text);  // "0,3-7" -> {0,0},{3,7}
Result<analyze::Range> parse_range(const std::string& text);                // "2-5", "3"

std::string flag_of(const Param& param);     // --consecutive-kernel-delay-ns
std::string default_of(const Param& param);  // " (default 20)", for its help; empty for a text without one

}  // namespace spotter::app
