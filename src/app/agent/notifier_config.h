// `notifiers` of the agent's configuration: who is told of incidents.
#pragma once
#include <yaml-cpp/yaml.h>

#include <string>
#include <vector>

#include "agent/incidents/notifier_options.h"
#include "base/result.h"

namespace spotter::app {

// Each has a name of its own. Errors: invalid, with the line, and without the values of settings, which may
// be secrets.
Result<std::vector<agent::NotifierOptions>> read_notifiers(const YAML::Node& list);

// As read_notifiers(), of one. Errors: invalid.
Result<agent::NotifierOptions> checked_notifier(const Settings& said);

}  // namespace spotter::app
