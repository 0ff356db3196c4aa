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
  // What the file says of other hosts; in `doors` and `options` only if it listens for them.
  bool listens = false;
  api::RemoteDoorOptions remote;
  std::vector<agent::ClientRule> clients;
  bool prometheus_on_all_addresses_without_authentication = false;
};

// What the file says beside what `config` holds already. Errors: not_found, denied, invalid (with the line).
Result<void> read_agent_config(const std::string& path, AgentConfig& config);

// What is asked of the command line and the file together. Errors: invalid.
Result<void> check(const AgentConfig& config);

Result<std::optional<u16>> parse_port(const std::string& word);  // a number, or "off"
Result<Level> parse_log_level(const std::string& word);

}  // namespace spotter::app
