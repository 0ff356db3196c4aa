// Words of the command line that name analyses.
#pragma once
#include <string>
#include <vector>

#include "analyze/analysis.h"
#include "analyze/compat.h"
#include "app/cli/command.h"

namespace spotter::app {

// What can be asked for by name: the findings and every analysis.
std::vector<std::string> table_names();

// Another tool whose numbers are wanted.
Option compat_option(const analyze::Compat*& to);

// Nullptr: the findings. Errors: invalid.
Result<const Analysis*> parse_table(const std::string& name);

}  // namespace spotter::app
