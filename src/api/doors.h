// Doors: those that are open to one agent. Made, used and gone on the loop's thread, before the agent is.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "api/door.h"

namespace spotter::api {

// A line of the agent's status.
struct DoorStatus {
  const char* name;
  bool is_open;
  std::string detail;
};

// Of the doors that have settings; nullptr if none has this one.
const Setting* find_door_setting(std::string_view key);
// What the settings of each door say together. Errors: invalid.
Result<void> check(const DoorOptions& options);

class Assistants;

class Doors {
 public:
  // Opens all or none. Errors: those of the first that cannot be opened.
  static Result<std::unique_ptr<Doors>> open(net::Loop& loop, agent::Agent& agent, DoorOptions options);
  ~Doors();

  std::vector<DoorStatus> status() const;  // of every kind, open or not
  size_t connections() const;
  i64 closed_for_room() const;
  Assistants& assistants() const { return *assistants_; }  // who ask by POST /mcp, at any of them

  i64 http_requests = 0;  // that came by any of them

 private:
  struct Place {
    const DoorKind* kind;
    std::unique_ptr<Door> door;  // nullptr: it is closed
  };
  Doors();

  DoorOptions options_;
  std::vector<Place> places_;
  std::unique_ptr<Assistants> assistants_;
};

}  // namespace spotter::api
