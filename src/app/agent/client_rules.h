// `clients` of the agent's configuration: who may do what from other hosts.
#pragma once
#include <vector>

#include "agent/access.h"
#include "base/result.h"

namespace YAML {
class Node;
}

namespace spotter::app {

// Errors: invalid, with the line.
Result<std::vector<agent::ClientRule>> read_client_rules(const YAML::Node& list);

}  // namespace spotter::app
