// Other programs.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace spotter {

// Runs a program of the PATH, without a shell, to its end. What it wrote to standard output. Errors:
// not_found (there is no such program); io where it ends with a status other than 0, with what it wrote to
// standard error.
Result<std::string> run_command(const std::vector<std::string>& words);

}  // namespace spotter
