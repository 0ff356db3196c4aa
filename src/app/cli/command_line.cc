#include "app/cli/command_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "app/cli/help.h"
#include "app/cli/output.h"
#include "app/cli/parse.h"
#include "app/cli/terminal.h"
#include "base/text/suggestion.h"
#include "base/text/utf8.h"
#include "base/version.h"

namespace spotter::app {
namespace {

CommandLine ended(int status) { return {.exit = status, .action = {}}; }

CommandLine answered(const std::string& text) {
  const Result<void> done = write_output("", text);
  if (!done) std::fprintf(stderr, "spotter: %s\n", to_printable(done.error().message).c_str());
  return ended(done ? 0 : 1);
}

CommandLine usage_error(const std::string& message, const std::string& command = "") {
  std::fprintf(stderr, "spotter: %s (see `spotter%s --help`)\n", to_printable(message).c_str(),
               command.c_str());
  return ended(2);
}

bool is_spelling_of(const std::string& word, const Option& option) {
  return std::ranges::find(option.names, word) != option.names.end();
}

// "help X" and "--help X" are "X --help".
void put_command_first(std::vector<std::string>& words) {
  if (words.empty() || (words[0] != "help" && !is_spelling_of(words[0], help_option()))) return;
  words[0] = "--help";
  if (words.size() > 1 && !words[1].starts_with('-')) std::swap(words[0], words[1]);
}

std::vector<std::string> names_of_listed(const Program& program) {
  std::vector<std::string> names;
  for (const Command* command : listed(program.commands)) names.push_back(command->name);
  return names;
}

// Of the program: the first word names no command.
CommandLine read_options(const Program& program, const std::vector<std::string>& words, int width) {
  const std::string& word = words[0];
  const bool asks_help = is_spelling_of(word, help_option());
  if (asks_help || is_spelling_of(word, version_option())) {
    if (words.size() > 1)
      return usage_error(fmt::format("The following argument was not expected: {}", words[1]));
    return answered(asks_help ? help_of(program, width) : std::string("spotter ") + kVersion + "\n");
  }
  if (!word.starts_with('-'))
    return usage_error(
        fmt::format("there is no command \"{}\"{}", word, did_you_mean(word, names_of_listed(program))));
  std::vector<std::string> names;
  for (const Option& option : program.options) names.push_back(name_of(option));
  return usage_error(
      fmt::format("The following argument was not expected: {}{}", word, did_you_mean(word, names)));
}

}  // namespace

CommandLine read_command_line(const Program& program, std::vector<std::string> words) {
  const int width = page_style_of(STDOUT_FILENO).width;
  if (words.empty()) {
    std::fputs(help_of(program, width).c_str(), stderr);
    return ended(2);
  }
  put_command_first(words);
  const Command* command = find_command(program.commands, words[0]);
  if (!command) return read_options(program, words, width);
  words.erase(words.begin());
  const Result<Asked> asked = parse(*command, std::move(words));
  if (!asked) return usage_error(asked.error().message, " " + command->name);
  if (*asked == Asked::help) return answered(help_of(*command, width));
  return {.exit = {}, .action = command->action};
}

}  // namespace spotter::app
