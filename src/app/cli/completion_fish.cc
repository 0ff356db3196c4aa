#include "app/cli/completion.h"

namespace spotter::app {
namespace {

constexpr const char* kBegin =
    R"(# Completes the words of `spotter` in fish; made by `spotter completion fish`.
# Whether the first word before the cursor is this one; without one, whether there is none.
function __spotter_is
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"
end
complete -c spotter -f
)";

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string line(const std::string& command) {
  return fmt::format("complete -c spotter -n '__spotter_is {}'", command);
}

std::string offer_of(const Offer& offer) {
  switch (offer.kind) {
    case Offer::Kind::files:
      return " -F";
    case Offer::Kind::folders:
      return " -a '(__fish_complete_directories (commandline -ct))'";
    case Offer::Kind::words:
      return " -a " + quoted(offered_words(offer));
    case Offer::Kind::nothing:
      break;
  }
  return "";
}

std::string line_of(const std::string& command, const Option& option) {
  std::string text = line(command);
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  const bool takes_files = option.offer.kind == Offer::Kind::files;
  if (!option.value.empty()) text += (takes_files ? " -r" : " -x") + offer_of(option.offer);
  return text + " -d " + quoted(brief(option.help)) + "\n";
}

}  // namespace

std::string fish_completion(const Program& program) {
  std::string text = kBegin;
  for (const Option& option : program.options) text += line_of("", option);
  for (const Command* command : listed(program.commands))
    text += line("") + " -a " + command->name + " -d " + quoted(command->summary) + "\n";
  text += line("") + " -a help -d 'Print the help of a command.'\n";
  text += line("help") + " -a " + quoted(command_words(program)) + "\n";
  for (const Command* command : listed(program.commands)) {
    for (const Option& option : shown_options(*command)) text += line_of(command->name, option);
    if (!command->arguments.empty() && command->arguments.back().offer.kind != Offer::Kind::nothing)
      text += line(command->name) + offer_of(command->arguments.back().offer) + "\n";
  }
  return text;
}

}  // namespace spotter::app
