// ask-helper NAME...: what an agent that is not root runs in the place of `analyze-part NAME...`, with the
// same files (agent/helper.h). It ends as that ends.
#include <sys/wait.h>

#include <csignal>
#include <memory>

#include "agent/helper.h"
#include "app/cli/command.h"
#include "app/cli/readers.h"

namespace spotter::app {
namespace {

struct Options {
  std::string socket;
  u32 user = 0;
  std::vector<std::string> names;
};

Result<int> ask(const Options& o) {
  TRY_ASSIGN(const int status, agent::ask_helper(o.socket, o.user, o.names));
  if (WIFSIGNALED(status)) {
    std::signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

Command ask_helper_command() {
  const auto options = std::make_shared<Options>();
  Options& o = *options;
  return {
      .name = "ask-helper",  // without a summary: it is no command for people
      .arguments = {{.name = "NAME",
                     .help = "what the descriptors from 3 on are called",
                     .read = keep_each(o.names),
                     .many = true}},
      .options = {{.names = {"--socket"},
                   .value = "PATH",
                   .help = "where the helper answers",
                   .read = keep(o.socket),
                   .required = true},
                  {.names = {"--user"},
                   .value = "UID",
                   .help = "as whom the files are read",
                   .read = number(o.user, 1, agent::kMostUid),
                   .required = true}},
      .action = [options]() -> Result<int> { return ask(*options); },
  };
}

}  // namespace spotter::app
