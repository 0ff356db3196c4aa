// The command by which a person traces what an incident would have traced.
#pragma once
#include <string>

#include "base/types.h"
#include "respond/incidents/members.h"

namespace spotter::agent {

std::string capture_command(const std::string& job, const respond::Chosen& whom, Ns window);

}  // namespace spotter::agent
