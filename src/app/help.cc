#include "app/help.h"

#include <unistd.h>

#include "app/terminal.h"

namespace spotter::app {
namespace {

using Meanings = std::vector<std::pair<std::string, std::string>>;

std::string section(const std::string& title, const Meanings& meanings, int width) {
  return meanings.empty() ? "" : "\n" + title + ":\n" + render::render_meanings(meanings, width);
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  const int width = page_style_of(STDOUT_FILENO).width;
  std::string usage = app->get_parent() ? "spotter " + app->get_name() : "spotter COMMAND";
  Meanings arguments, options, commands;
  for (const CLI::Option* option : app->get_options()) {
    const std::string type = option->get_type_name();
    if (option->get_positional()) {
      const std::string name = option->get_name() + type;
      usage += option->get_required() ? " " + name : " [" + name + "]";
      arguments.emplace_back(name, option->get_description());
    } else {
      std::string name = option->get_name(false, true);
      if (const size_t comma = name.find(','); comma != name.npos) name.insert(comma + 1, " ");
      options.emplace_back(type.empty() ? name : name + " " + type, option->get_description());
    }
  }
  for (const CLI::App* command : app->get_subcommands({})) {
    if (!command->get_description().empty())
      commands.emplace_back(command->get_name(), command->get_description());
  }
  return "Usage: " + usage + " [OPTION...]\n\n" + render::wrapped(app->get_description(), width) + "\n" +
         section("Arguments", arguments, width) + section("Commands", commands, width) +
         section("Options", options, width) +
         (app->get_footer().empty() ? "" : "\n" + app->get_footer() + "\n");
}

}  // namespace spotter::app
