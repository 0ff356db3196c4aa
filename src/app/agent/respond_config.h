// The keys `respond` and `rules` of the agent's configuration: what it does by itself, and when.
#pragma once
#include "agent/respond_options.h"
#include "app/agent/yaml_map.h"

namespace spotter::app {

// Errors: invalid (with the line).
Result<void> read_respond(const YAML::Node& node, agent::RespondOptions& respond);
Result<void> read_rules(const YAML::Node& node, respond::RuleSettings& rules);

}  // namespace spotter::app
