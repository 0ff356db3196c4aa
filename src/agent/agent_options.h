// What an agent is to be: what the configuration says of all but its doors (api/door_options.h).
#pragma once
#include <string>
#include <vector>

#include "agent/access.h"
#include "agent/incidents/notifier_options.h"
#include "agent/respond_options.h"
#include "agent/telemetry/telemetry_options.h"

namespace spotter::agent {

struct AgentOptions {
  std::string ipc_directory;  // of the sockets of training processes; empty: the abstract namespace
  std::vector<std::string> output_directories = {"/tmp"};
  std::vector<ClientRule> clients = {};  // on other hosts
  std::string audit_log = {};            // a file; empty: the log has it
  std::string helper = {};               // the socket of root's helper (helper.h); empty: there is none
  std::string incidents_file = {};       // empty: incidents are remembered in memory alone
  std::vector<NotifierOptions> notifiers = {};  // who is told of incidents; each has a name of its own
  TelemetryOptions telemetry = {};              // nothing is measured without collectors
  RespondOptions respond = {};                  // what it does by itself
};

}  // namespace spotter::agent
