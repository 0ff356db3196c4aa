// Lists of hosts as schedulers write them: "n1,gpu[01-16,20]x".
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace spotter {

// In their order; a range has the width of its first number. "[::1]" is an address and stays one. Errors:
// invalid (a bracket without its other one, no range of numbers, more than 100,000 hosts).
Result<std::vector<std::string>> expand_host_list(const std::string& list);

}  // namespace spotter
