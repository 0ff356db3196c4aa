#include "app/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "app/help.h"
#include "base/utf8.h"

namespace spotter {
namespace {

constexpr const char* kVersion = "0.1.0";

int usage_error(const std::string& message, const std::string& command) {
  std::fprintf(stderr, "spotter: %s (see `spotter%s --help`)\n", to_printable(message).c_str(),
               command.c_str());
  return 2;
}

// As the library wants them: the last one first.
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
  std::reverse(words.begin(), words.end());
  return words;
}

}  // namespace

CommandLine parse_command_line(std::span<const Command> commands, int argc, char** argv) {
  CLI::App app(
      "Spotter reads the traces that PyTorch's profiler (Kineto) writes, all ranks of a job at once, and "
      "says "
      "where the time went.",
      "spotter");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", fmt::format("spotter {}", kVersion), "print the version");
  app.require_subcommand(1);
  CommandLine line;
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const Command& command : commands) {
    CLI::App* sub = app.add_subcommand(command.name, command.help);
    actions.emplace_back(sub, command.declare(*sub));
  }
  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    line.exit = 2;
    return line;
  }
  std::string command;
  const auto find_command = [&] {
    for (auto& [sub, action] : actions) {
      if (!sub->parsed()) continue;
      command = " " + sub->get_name();
      line.action = std::move(action);
    }
  };
  try {
    app.parse(words_of(argc, argv));
    find_command();
  } catch (const CLI::ParseError& error) {
    find_command();
    if (error.get_exit_code() == 0) {
      line.exit = app.exit(error);
    } else if (command.empty() && argv[1][0] != '-') {
      line.exit = usage_error(fmt::format("there is no command \"{}\"", argv[1]), "");
    } else {
      line.exit = usage_error(error.what(), command);
    }
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

}  // namespace spotter
