// PyTorch processes that no daemon hears of, and why.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/system/host.h"
#include "base/types.h"

namespace spotter::kineto {

struct Unregistered {
  i64 pid = 0;
  std::string command;
  std::string reason;  // a sentence's end: "has no KINETO_USE_DAEMON in its environment"
};

// Of all processes that this user may read: those that have PyTorch loaded and are not registered, in order
// of their pids; without forked children, which never ask. Reads /proc, which takes milliseconds for each
// hundred processes.
std::vector<Unregistered> find_unregistered(const Host& host,
                                            const std::function<bool(i64 pid)>& is_registered);

}  // namespace spotter::kineto
