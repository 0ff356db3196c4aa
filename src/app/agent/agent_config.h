// The agent's configuration file, in YAML; packaging/agent.yaml explains each key.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "agent/agent_options.h"
#include "api/door_options.h"
#include "base/log.h"

namespace spotter::app {

struct AgentConfig {
  agent::AgentOptions options;
  api::DoorOptions doors;
  Level log_level = Level::info;
  LogFormat log_format = LogFormat::text;
  std::map<std::string, std::string> texts = {};  // of each key of the file, as YAML
  std::string root = "/";                         // below which the machine's /proc and /sys are
  bool listens = false;                           // for other hosts
};

// The keys of the file that `now` has another value of, or that only one of them has: but for those that can
// change while the agent runs (log_level, log_format, output_directories, clients).
std::vector<std::string> changed_keys(const AgentConfig& before, const AgentConfig& now);

// What the file says beside what `config` holds already. Errors: not_found, denied, invalid (with the line).
Result<void> read_agent_config(const std::string& path, AgentConfig& config);

Result<Level> parse_log_level(const std::string& word);

}  // namespace spotter::app
