// The agent's configuration file, in YAML; packaging/agent.yaml explains each key.
#pragma once
#include <string>

#include "agent/agent.h"
#include "api/door.h"
#include "base/log.h"

namespace spotter::app {

struct AgentConfig {
  agent::AgentOptions options;
  api::DoorOptions doors;
  Level log_level = Level::info;
  std::string root = "/";  // below which the machine's /proc and /sys are
  bool listens = false;    // for other hosts
};

// What the file says beside what `config` holds already. Errors: not_found, denied, invalid (with the line).
Result<void> read_agent_config(const std::string& path, AgentConfig& config);

Result<Level> parse_log_level(const std::string& word);

}  // namespace spotter::app
