// Words of the command line that name analyses.
#pragma once
#include "analyze/compat.h"
#include "app/cli/command.h"

namespace spotter::app {

// Another tool whose numbers are wanted.
Option compat_option(const analyze::Compat*& to);

}  // namespace spotter::app
