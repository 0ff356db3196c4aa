// Where the agent of this host listens.
#pragma once
#include <string>

#include "app/cli/command.h"

namespace spotter::app {

// The host's agent, if it runs as root, has the first; a user's own one the second.
std::string system_socket();
std::string user_socket();

// --socket; without it the host's agent if it is there, else the user's.
Option socket_option(std::string& socket);
std::string socket_or_default(const std::string& socket);

}  // namespace spotter::app
