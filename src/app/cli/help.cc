#include "app/cli/help.h"

#include <fmt/ranges.h>

#include "render/render.h"

namespace spotter::app {
namespace {

using Meanings = std::vector<std::pair<std::string, std::string>>;

std::string section(const std::string& title, const Meanings& meanings, int width) {
  return meanings.empty() ? "" : "\n" + title + ":\n" + render::render_meanings(meanings, width);
}

Meanings meanings_of(const std::vector<Option>& options) {
  Meanings meanings;
  for (const Option& option : options) meanings.emplace_back(shown_names(option), option.help);
  return meanings;
}

std::string introduction(const std::string& usage, const std::string& about, int width) {
  return "Usage: spotter " + usage + "\n\n" + render::wrapped(about, width) + "\n";
}

}  // namespace

std::string shown_name(const Argument& argument) { return argument.name + (argument.many ? "..." : ""); }

std::string shown_names(const Option& option) {
  return fmt::format("{}{}{}", fmt::join(option.names, ", "), option.value.empty() ? "" : " ", option.value);
}

std::string usage_of(const Command& command) {
  std::string usage = command.name;
  for (const Argument& argument : command.arguments)
    usage += fmt::format(fmt::runtime(argument.required ? " {}" : " [{}]"), shown_name(argument));
  return usage + " [OPTION...]";
}

std::string help_of(const Program& program, int width) {
  Meanings commands;
  for (const Command* command : listed(program.commands))
    commands.emplace_back(command->name, command->summary);
  return introduction("COMMAND [OPTION...]", program.about, width) + section("Commands", commands, width) +
         section("Options", meanings_of(program.options), width);
}

std::string help_of(const Command& command, int width) {
  Meanings arguments;
  for (const Argument& argument : command.arguments)
    arguments.emplace_back(shown_name(argument), argument.help);
  return introduction(usage_of(command), command.summary, width) + section("Arguments", arguments, width) +
         section("Options", meanings_of(shown_options(command)), width) +
         (command.footer.empty() ? "" : "\n" + command.footer + "\n");
}

}  // namespace spotter::app
