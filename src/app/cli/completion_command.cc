// completion: the script that completes words in a shell.
#include <algorithm>
#include <memory>

#include "app/cli/completion.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "app/list.h"
#include "base/text/suggestion.h"

namespace spotter::app {
namespace {

struct Shell {
  const char* name;
  std::string (*script)(const Program& program);
};
constexpr Shell kShells[] = {{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};

Result<const Shell*> parse_shell(const std::string& word) {
  const auto* found = std::ranges::find(kShells, word, &Shell::name);
  if (found != std::end(kShells)) return found;
  return fail(Code::invalid, "there is no script for \"{}\"; there are bash, zsh, fish", word);
}

}  // namespace

Command completion_command() {
  const auto shell = std::make_shared<const Shell*>(nullptr);
  return {
      .name = "completion",
      .summary = "Print the script that completes words in a shell.",
      .arguments = {{.name = "SHELL",
                     .help = "bash, zsh or fish",
                     .read = parsed(*shell, parse_shell),
                     .offer = offer_words([] { return std::vector<std::string>{"bash", "zsh", "fish"}; })}},
      .footer =
          "Examples:\n"
          "  source <(spotter completion bash)\n"
          "  spotter completion zsh > ~/.zfunc/_spotter    # a folder of $fpath\n"
          "  spotter completion fish > ~/.config/fish/completions/spotter.fish",
      .action = [shell]() -> Result<int> {
        TRY(write_output("", (*shell)->script(program())));
        return 0;
      },
  };
}

}  // namespace spotter::app
