// What a first set-up of TLS needs: an authority, the agents' certificate and configuration, a client's.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace spotter::app {

// Makes, and replaces nothing that is there:
//   DIR/ca.pem, ca-key.pem    the authority; used again where both are there
//   DIR/agent/                for each host that runs an agent: certificate, key, ca.pem, agent.yaml
//   DIR/client/               for who may do everything: certificate, key, ca.pem (--credentials)
// `names`: by which the hosts are asked. What was made, for a person. Errors: invalid, io.
Result<std::string> set_up_tls(const std::string& directory, const std::vector<std::string>& names);

// This host's names and loopback addresses.
std::vector<std::string> names_of_this_host();

}  // namespace spotter::app
