#include "app/cli/command.h"

#include <algorithm>
#include <iterator>

namespace spotter::app {

const std::string& name_of(const Option& option) {
  const auto is_long = [](const std::string& name) { return name.starts_with("--"); };
  const auto found = std::ranges::find_if(option.names, is_long);
  CHECK(found != option.names.end());
  return *found;
}

void append(std::vector<Option>& options, std::vector<Option> more) {
  std::ranges::move(more, std::back_inserter(options));
}

Option help_option() { return {.names = {"-h", "--help"}, .help = "print this help"}; }

Option version_option() { return {.names = {"-V", "--version"}, .help = "print the version"}; }

std::vector<Option> shown_options(const Command& command) {
  std::vector<Option> options = {help_option()};
  append(options, command.options);
  return options;
}

std::vector<const Command*> listed(const std::vector<Command>& commands) {
  std::vector<const Command*> listed;
  for (const Command& command : commands)
    if (!command.summary.empty()) listed.push_back(&command);
  return listed;
}

const Command* find_command(const std::vector<Command>& commands, std::string_view name) {
  const auto found = std::ranges::find(commands, name, &Command::name);
  return found == commands.end() ? nullptr : &*found;
}

}  // namespace spotter::app
