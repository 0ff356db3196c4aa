// The command line: words -> the command that was asked for, ready to run.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command.h"

namespace spotter::app {

// What to do. `exit` is set when the command line already is the answer (help, version) or is wrong.
struct CommandLine {
  std::optional<int> exit;
  Action action;
};

// Prints help to standard output, and what is wrong with the words, in one line, to standard error (exit code
// 2).
CommandLine read_command_line(const Program& program, std::vector<std::string> words);

}  // namespace spotter::app
