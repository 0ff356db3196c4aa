#include "app/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "app/help.h"
#include "base/utf8.h"
#include "base/version.h"

namespace spotter::app {
namespace {

int usage_error(const std::string& message, const std::string& command) {
  std::fprintf(stderr, "spotter: %s (see `spotter%s --help`)\n", to_printable(message).c_str(),
               command.c_str());
  return 2;
}

std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  // The library reads a word in brackets as a list; here it is a pattern of file names.
  for (std::string& word : words) {
    if (word.starts_with('[') && word.ends_with(']')) word = fmt::format("./{}", word);
  }
  if (!words.empty() && words[0] == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return words;
}

}  // namespace

CommandLine parse_command_line(std::span<const Command> commands, int argc, char** argv) {
  CLI::App app(
      "Spotter traces running PyTorch jobs, reads the traces that PyTorch's profiler (Kineto) writes, all ranks of a "
      "job at once, and says where the time went.",
      "spotter");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", std::string("spotter ") + kVersion, "print the version");
  app.require_subcommand(0, 1);
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const Command& command : commands) {
    CLI::App* sub = app.add_subcommand(command.name, command.help);
    actions.emplace_back(sub, command.declare(*sub));
  }
  CommandLine line;
  const std::vector<std::string> words = words_of(argc, argv);
  const auto is_command = [&](const Command& c) { return c.name == words[0]; };
  if (words.empty()) {
    std::fputs(app.help().c_str(), stderr);
    line.exit = 2;
  } else if (!words[0].starts_with('-') && std::ranges::none_of(commands, is_command)) {
    line.exit = usage_error(fmt::format("there is no command \"{}\"", words[0]), "");
  }
  if (line.exit) return line;

  std::string command;
  const auto find_command = [&] {
    for (auto& [sub, action] : actions) {
      if (!sub->parsed()) continue;
      command = " " + sub->get_name();
      line.action = std::move(action);
    }
  };
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());  // as the library wants them
    app.parse(reversed);
    find_command();
    if (command.empty()) line.exit = usage_error("which command?", "");
  } catch (const CLI::ParseError& error) {
    find_command();
    line.exit = error.get_exit_code() == 0 ? app.exit(error) : usage_error(error.what(), command);
  }
  return line;
}

CLI::Option* add_option(CLI::App& app, const std::string& name, const char* type, const std::string& help,
                        std::function<Result<void>(const std::string& word)> read) {
  const auto keep_nothing = [](const CLI::results_t&) { return true; };  // `read` has done it
  return app.add_option(name, keep_nothing, help)
      ->type_name(type)
      ->check([read = std::move(read)](const std::string& word) {
        const Result<void> done = read(word);
        return done ? std::string() : done.error().message;
      });
}

}  // namespace spotter::app
