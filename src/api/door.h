// Door: a way into the agent from outside of it. To add one: a file here with a DoorKind and its name in
// list.h.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "agent/agent.h"
#include "api/door_options.h"
#include "base/result.h"
#include "base/settings.h"
#include "net/loop.h"

namespace spotter::api {

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
  const Settings& settings;  // what is said of the door's own, else their fallbacks
  Doors& doors;              // that this one will be among
};

struct DoorKind {
  const char* name;                        // in the status
  const char* closed;                      // what the status says where nobody asked for it
  std::span<const Setting> settings = {};  // keys of the configuration; all have fallbacks
  // What they say together; each alone is checked already. Errors: invalid.
  Result<void> (*check)(const Settings& settings) = nullptr;
  // nullptr: the options do not ask for it. Errors: denied, io, invalid, with the name of the door.
  Result<std::unique_ptr<Door>> (*open)(const DoorSite& site);
};

}  // namespace spotter::api
