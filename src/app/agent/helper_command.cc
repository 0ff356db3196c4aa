// helper: what systemd runs for each connection of an agent that is not root (agent/helper.h); the connection
// is its standard input.
#include <pwd.h>
#include <unistd.h>

#include <memory>

#include "agent/helper.h"
#include "app/cli/command.h"
#include "app/cli/readers.h"
#include "base/text/utf8.h"

namespace spotter::app {

Command helper_command() {
  const auto user = std::make_shared<std::string>();
  return {
      .name = "helper",  // without a summary: it is no command for people
      .options = {{.names = {"--for"},
                   .value = "USER",
                   .help = "whom the agent runs as: who may ask",
                   .read = keep(*user),
                   .required = true}},
      .action = [user]() -> Result<int> {
        const passwd* const client = getpwnam(user->c_str());
        if (!client) return fail(Code::not_found, "there is no user {} on this host", to_printable(*user));
        TRY(agent::serve_helper(STDIN_FILENO, static_cast<i64>(client->pw_uid)));
        return 0;
      },
  };
}

}  // namespace spotter::app
