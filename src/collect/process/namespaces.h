// Whose network and mounts are looked at. Of this machine's root: one's own, as its /sys shows them too. Of
// another root, which is the machine's seen from a container: those of the machine's first process; there
// /proc/net would lead back to one's own.
#pragma once
#include <string>

#include "base/system/host.h"

namespace spotter::collect {

// The folder of that process in /proc.
inline std::string process_of_namespaces(const Host& host) {
  return host.proc + (host.root == "/" ? "/self" : "/1");
}

}  // namespace spotter::collect
