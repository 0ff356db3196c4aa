#include <fmt/ranges.h>

#include "app/cli/completion.h"

namespace spotter::app {
namespace {

constexpr const char* kBegin = R"(#compdef spotter
# Completes the words of `spotter` in zsh; made by `spotter completion zsh`.
_spotter() {
  local context state state_descr line curcontext="$curcontext"
  typeset -A opt_args
)";

constexpr const char* kEnd = R"(    esac
    ;;
  esac
}
if [[ $funcstack[1] == _spotter ]]; then
  _spotter "$@"
else
  compdef _spotter spotter
fi
)";

// Of a specification of _arguments or _describe, and then of a text in single quotes.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("[]:\\").find(c) != std::string_view::npos) out += '\\';
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out;
}

std::string action_of(const Offer& offer) {
  switch (offer.kind) {
    case Offer::Kind::files:
      return "_files";
    case Offer::Kind::folders:
      return "_files -/";
    case Offer::Kind::words:
      return fmt::format("({})", offered_words(offer));
    case Offer::Kind::nothing:
      break;
  }
  return " ";
}

// '(-o --output)-o+[help]:FILE:_files' '(-o --output)--output=[help]:FILE:_files'
std::string specifications(const Option& option) {
  std::string text;
  const std::string before = option.repeatable ? "*" : fmt::format("({})", fmt::join(option.names, " "));
  const std::string value =
      option.value.empty() ? "" : fmt::format(":{}:{}", escaped(option.value), action_of(option.offer));
  for (const std::string& name : option.names) {
    const char* join = option.value.empty() ? "" : name.starts_with("--") ? "=" : "+";
    text +=
        fmt::format(" \\\n        '{}{}{}[{}]{}'", before, name, join, escaped(brief(option.help)), value);
  }
  return text;
}

std::string case_of(const Command& command) {
  std::string text = fmt::format("    {})\n      _arguments -s -S", command.name);
  for (const Option& option : shown_options(command)) text += specifications(option);
  for (const Argument& argument : command.arguments)
    text += fmt::format(" \\\n        '{}:{}:{}'", argument.many ? "*" : "", escaped(argument.name),
                        action_of(argument.offer));
  return text + "\n      ;;\n";
}

}  // namespace

std::string zsh_completion(const Program& program) {
  std::string text = kBegin;
  text += "  _arguments -C";
  for (const Option& option : program.options) text += specifications(option);
  text += " \\\n        '1:command:->command' '*::argument:->argument'\n";
  text += "  case $state in\n  command)\n    local -a commands=(\n";
  for (const Command* command : listed(program.commands))
    text += fmt::format("      '{}:{}'\n", escaped(command->name), escaped(command->summary));
  text += "      'help:Print the help of a command.'\n    )\n    _describe command commands\n    ;;\n";
  text += "  argument)\n    case $line[1] in\n";
  text += fmt::format("    help) _arguments '1:command:({})' ;;\n", command_words(program));
  for (const Command* command : listed(program.commands)) text += case_of(*command);
  return text + kEnd;
}

}  // namespace spotter::app
