// Parameters of analyses as words of the command line.
#pragma once
#include <string>

#include "analyze/analysis.h"
#include "base/result.h"
#include "base/text/quantity.h"

namespace spotter::app {

std::string flag_of(const Param& param);     // --consecutive-kernel-delay-ns
std::string default_of(const Param& param);  // " (default 20)", for its help; empty for a text without one

}  // namespace spotter::app
