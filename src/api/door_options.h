// Which doors an agent is to have, and where.
#pragma once
#include <optional>
#include <string>

#include "base/settings.h"
#include "net/tls.h"

namespace spotter::api {

// The API for other hosts. Who they are says AgentOptions::clients.
struct RemoteDoorOptions {
  std::string address = "0.0.0.0";
  u16 port = 0;  // 0: any free one
  net::TlsFiles tls;
};

struct DoorOptions {
  std::string api_socket;
  std::optional<RemoteDoorOptions> remote = {};
  Settings said = {};  // what the configuration says of settings of doors
};

}  // namespace spotter::api
