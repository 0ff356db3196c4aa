// A request that another program hands over.
#pragma once
#include <string>

#include "base/result.h"

namespace spotter::app {

// All of standard input. Errors: invalid (more than 1 MiB).
Result<std::string> standard_input();

}  // namespace spotter::app
