#include "app/agent/agent_socket.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "app/cli/readers.h"

namespace spotter::app {

std::string system_socket() { return "/run/spotter/agent.sock"; }

std::string user_socket() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime && *runtime) return std::string(runtime) + "/spotter/agent.sock";
  return fmt::format("/tmp/spotter-{}/agent.sock", geteuid());
}

Option socket_option(std::string& socket) {
  return {.names = {"--socket"},
          .value = "PATH",
          .help = "the agent's socket; default: " + system_socket() + ", or the one of this user's own agent",
          .read = keep(socket),
          .offer = offer_files()};
}

std::string socket_or_default(const std::string& socket) {
  if (!socket.empty()) return socket;
  std::error_code ignored;
  return geteuid() == 0 || std::filesystem::exists(system_socket(), ignored) ? system_socket()
                                                                             : user_socket();
}

}  // namespace spotter::app
