// spawn: a program that is started and trusted with nothing: no environment, no capabilities, no descriptors
// but those it is given, the lowest priority, bounds on its memory and on what it writes. It ends with the
// thread that started it.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace spotter::net {

struct Spawn {
  std::vector<std::string> command;  // the first word is the program's path
  std::vector<int> descriptors;      // it has them as 0, 1, 2, ...
  std::optional<u32> uid;            // whom to run it as, in no group; else as who this process is
  size_t output_bytes = 0;           // of each file that it writes; more ends it
  size_t memory_bytes = 0;           // of its own; 0: any
  size_t descriptors_more = 16;      // that it may have open beside those
};

// Its process id; it is a child of this process. Errors: io. What goes wrong once there is a process is said
// on its standard error, and its status is 1.
Result<pid_t> spawn(const Spawn& wanted);

}  // namespace spotter::net
