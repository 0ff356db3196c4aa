// A table of agents, as commands show it: the rows of each that is asked, and who has not answered.
#pragma once
#include <span>
#include <string>

#include "app/capture/hosts.h"
#include "render/list.h"
#include "table/table.h"

namespace spotter::app {

// Exit statuses: all agents have answered, and all is well; they have, and something of them fails; some have
// not.
inline constexpr int kAllAnswered = 0, kSomethingFails = 1, kSomeMissing = 3;

struct View {
  const char* name;
  std::string target;  // where it is asked for
  std::span<const Field> schema;
  // What a person is told below the table of this host, and in the place of one without rows, of whatever
  // host; nullptr: nothing.
  std::string (*more)(const Table&) = nullptr;
  const char* nothing = nullptr;
  bool (*fails)(const Table&) = nullptr;  // whether something is wrong with what it says; nullptr: never
};

// The exit status. Errors: those of find_hosts(), and of agents of which none has answered.
Result<int> show(const HostOptions& where, const render::Format& format, const View& view);

}  // namespace spotter::app
