#include <fmt/ranges.h>

#include "app/cli/completion.h"

namespace spotter::app {
namespace {

constexpr const char* kBegin =
    R"(# Completes the words of `spotter` in bash; made by `spotter completion bash`.
_spotter() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
    # Readline makes three words of --format=json.
    if [[ $word == "=" ]]; then
        word=
    elif [[ $before == "=" ]]; then
        before=${COMP_WORDS[COMP_CWORD-2]}
    fi
    ((COMP_CWORD == 1)) && command=
    local kind=options options= words=
    case $command in
)";

constexpr const char* kEnd = R"(    esac
    [[ $kind == options || ( $kind == *argument && $word == -* ) ]] && kind=words words=$options
    COMPREPLY=()
    case ${kind% argument} in
    words) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word") ;;
    files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    folders) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    esac
}
complete -F _spotter spotter
)";

// Sets `kind` and `words`; for a word by its place a word that begins with - is an option.
std::string offer_of(const Offer& offer, const char* argument = "") {
  switch (offer.kind) {
    case Offer::Kind::files:
      return fmt::format("kind=\"files{}\"", argument);
    case Offer::Kind::folders:
      return fmt::format("kind=\"folders{}\"", argument);
    case Offer::Kind::words:
      return fmt::format("kind=\"words{}\" words=\"{}\"", argument, offered_words(offer));
    case Offer::Kind::nothing:
      break;
  }
  return fmt::format("kind=\"nothing{}\"", argument);
}

std::string names_of(const std::vector<Option>& options) {
  std::string names;
  for (const Option& option : options)
    for (const std::string& name : option.names) names += (names.empty() ? "" : " ") + name;
  return names;
}

std::string case_of(const Command& command) {
  std::string text =
      fmt::format("    {})\n        options=\"{}\"\n", command.name, names_of(shown_options(command)));
  if (!command.arguments.empty())
    text += fmt::format("        {}\n", offer_of(command.arguments.back().offer, " argument"));
  text += "        case $before in\n";
  for (const Option& option : command.options)
    if (!option.value.empty())
      text += fmt::format("        {}) {} ;;\n", fmt::join(option.names, " | "), offer_of(option.offer));
  return text + "        esac\n        ;;\n";
}

}  // namespace

std::string bash_completion(const Program& program) {
  std::string text = kBegin;
  const std::string commands = command_words(program);
  text += fmt::format("    \"\") kind=\"words argument\" words=\"{} help\" options=\"{}\" ;;\n", commands,
                      names_of(program.options));
  text += fmt::format("    help) kind=words words=\"{}\" ;;\n", commands);
  for (const Command* command : listed(program.commands)) text += case_of(*command);
  return text + kEnd;
}

}  // namespace spotter::app
