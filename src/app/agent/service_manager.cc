#include "app/agent/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/text/quantity.h"
#include "base/time.h"

namespace spotter::app {
namespace {

// Half of the time of the watchdog that is for this process; 0: there is none.
Ns watchdog_period() {
  const char* time = std::getenv("WATCHDOG_USEC");
  const char* pid = std::getenv("WATCHDOG_PID");
  if (!time || (pid && whole_number(pid) != i64{getpid()})) return 0;
  return whole_number(time).value_or(0) * kMicrosecond / 2;
}

std::string first_folder(const char* variable) {
  const char* folders = std::getenv(variable);
  const std::string_view all = folders ? folders : "";
  return std::string(all.substr(0, all.find(':')));
}

}  // namespace

std::string service_runtime_folder() { return first_folder("RUNTIME_DIRECTORY"); }
std::string service_state_folder() { return first_folder("STATE_DIRECTORY"); }

void tell_service_manager(std::string_view text) {
  const char* name = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  if (!name || std::strlen(name) >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, name);
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  sendto(fd, text.data(), text.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
         static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(name)));
  close(fd);
}

Heartbeat::Heartbeat(net::Loop& loop) : every_(watchdog_period()), timer_(loop) {
  if (every_ > 0) beat();
}

void Heartbeat::beat() {
  tell_service_manager("WATCHDOG=1");
  timer_.set(every_, [this] { beat(); });
}

}  // namespace spotter::app
