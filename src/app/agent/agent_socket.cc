#include "app/agent/agent_socket.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "app/agent/service_manager.h"
#include "app/cli/readers.h"

namespace spotter::app {

namespace {

constexpr const char* kSystemSocket = "/run/spotter/agent.sock";

std::string user_socket() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime && *runtime) return std::string(runtime) + "/spotter/agent.sock";
  return fmt::format("/tmp/spotter-{}/agent.sock", geteuid());
}

}  // namespace

bool serves_all_users() { return geteuid() == 0 || !service_runtime_folder().empty(); }

std::string own_socket() {
  if (geteuid() == 0) return kSystemSocket;
  const std::string folder = service_runtime_folder();
  return folder.empty() ? user_socket() : folder + "/agent.sock";
}

Option socket_option(std::string& socket) {
  return {.names = {"--socket"},
          .value = "PATH",
          .help = "the agent's socket; default: " + std::string(kSystemSocket) +
                  ", or the one of this user's own agent",
          .read = keep(socket),
          .offer = offer_files()};
}

std::string socket_or_default(const std::string& socket) {
  if (!socket.empty()) return socket;
  std::error_code ignored;
  return geteuid() == 0 || std::filesystem::exists(kSystemSocket, ignored) ? kSystemSocket : user_socket();
}

}  // namespace spotter::app
