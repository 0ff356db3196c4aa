// The command line: words -> the command that was asked for, ready to run. main.cc lists the commands.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace spotter::app {

using Action = std::function<Result<int>()>;  // the exit status; an error is 1

struct Command {
  const char* name;
  const char* help;                  // empty: it is not listed
  Action (*declare)(CLI::App& app);  // declares the options; the action runs with what they were set to
};

// What to do. `exit` is set when the command line already is the answer (help, version) or is wrong.
struct CommandLine {
  std::optional<int> exit;
  Action action;
};

// Prints help to standard output, and what is wrong with the words, in one line, to standard error (exit code
// 2).
CommandLine parse_command_line(std::span<const Command> commands, int argc, char** argv);

// For `declare`: an option whose word, called `type` in the help, `read` understands and keeps.
CLI::Option* add_option(CLI::App& app, const std::string& name, const char* type, const std::string& help,
                        std::function<Result<void>(const std::string& word)> read);

}  // namespace spotter::app
