// How the help of the command line looks, made from its records.
#pragma once
#include <string>

#include "app/cli/command.h"

namespace spotter::app {

std::string help_of(const Program& program, int width);
std::string help_of(const Command& command, int width);

// Pieces that the manual shows, too.
std::string usage_of(const Command& command);      // "analyze PATH... [OPTION...]"
std::string shown_name(const Argument& argument);  // "PATH..."
std::string shown_names(const Option& option);     // "-o, --output FILE"

}  // namespace spotter::app
