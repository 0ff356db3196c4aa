// The unit of the kernel's times of processors and processes.
#pragma once
#include <unistd.h>

#include <algorithm>

#include "base/time.h"
#include "base/types.h"

namespace spotter::collect {

inline Ns ns_per_tick() {
  static const Ns ns = kSecond / std::max<i64>(sysconf(_SC_CLK_TCK), 1);
  return ns;
}

}  // namespace spotter::collect
