// Host: where the outside world begins. Whoever reads /proc, /sys or a clock, or opens a vendor's library, is
// handed one of these, and tests hand in a tree of their own.
#pragma once
#include <string>

#include "base/types.h"

namespace spotter {

Ns steady_clock_now();  // does not jump, runs while the machine does
Ns unix_clock_now();    // since 1970; whoever sets the clock makes it jump, back, too

// Of this machine, or of the container: what the system says; "localhost" where it says nothing.
std::string host_name();

struct Host {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string dev = "/dev";
  std::string root = "/";  // paths of mount points begin here
  // Where libnvidia-ml.so.1 and its like are looked for first; empty: only where the loader looks.
  std::string libraries = {};
  Ns (*steady_now)() = steady_clock_now;
  Ns (*unix_now)() = unix_clock_now;

  // That of another root: /host in a container that has the machine's root there.
  static Host at(const std::string& root);
};

}  // namespace spotter
