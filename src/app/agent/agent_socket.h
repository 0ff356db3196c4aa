// Where the agent of this host listens.
#pragma once
#include <string>

#include "app/cli/command.h"

namespace spotter::app {

// Where an agent listens that this process becomes: the host's, which is root's or a service's, at
// /run/spotter/agent.sock; a user's own at a place of the user's.
std::string own_socket();
// Whether it is the host's.
bool serves_all_users();

// --socket; without it the host's agent if it is there, else the user's.
Option socket_option(std::string& socket);
std::string socket_or_default(const std::string& socket);

}  // namespace spotter::app
