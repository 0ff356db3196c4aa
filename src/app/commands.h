// The commands of the program, one file each; main.cc lists them. An error of an action ends the program with
// exit code 1 and one line.
#pragma once
#include "app/cli.h"

namespace spotter {

Action declare_analyze(CLI::App& app);   // analyze_command.cc
Action declare_analyses(CLI::App& app);  // analyses_command.cc

}  // namespace spotter
