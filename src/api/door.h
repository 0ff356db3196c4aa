// Door: a way into the agent from outside of it. To add one: a file here with a DoorKind, its name in list.h
// and a line in list.cc.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/agent.h"
#include "base/result.h"
#include "net/loop.h"
#include "net/tls.h"

namespace spotter::api {

// The API for other hosts. Who they are says AgentOptions::clients.
struct RemoteDoorOptions {
  std::string address = "0.0.0.0";
  u16 port = 0;  // 0: any free one
  net::TlsFiles tls;
};

// The page /metrics alone, for whoever may connect.
struct MetricsDoorOptions {
  std::string address = "127.0.0.1";
  u16 port = 0;  // 0: any free one
};

struct DoorOptions {
  std::string api_socket;
  std::optional<u16> rpc_port = 1778;  // of Dynolog's RPC; 0: any free one; nullopt: none
  bool rpc_on_all_addresses_without_authentication = false;
  std::optional<RemoteDoorOptions> remote;
  std::optional<MetricsDoorOptions> prometheus;
};

class Door {
 public:
  virtual ~Door() = default;
  virtual size_t connections() const = 0;
  virtual i64 closed_for_room() const = 0;  // connections
  virtual std::string detail() const = 0;   // for the status: where it is
};

class Doors;

struct DoorSite {
  net::Loop& loop;
  agent::Agent& agent;
  const DoorOptions& options;
  Doors& doors;  // that this one will be among
};

struct DoorKind {
  const char* name;    // in the status
  const char* closed;  // what the status says where nobody asked for it
  // nullptr: the options do not ask for it. Errors: denied, io, invalid, with the name of the door.
  Result<std::unique_ptr<Door>> (*open)(const DoorSite& site);
};

}  // namespace spotter::api
