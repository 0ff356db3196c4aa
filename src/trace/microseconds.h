// Times as Python reads them from a trace: the nearest double of microseconds. Those that count from 1970 are
// 0.25 us apart. For the tables of --compat only; all others count nanoseconds.
#pragma once
#include "base/time.h"
#include "base/types.h"

namespace spotter::trace {

// Times have up to 62 bits, which a double has not.
inline double microseconds(Ns time) {
  return static_cast<double>(static_cast<long double>(time) / kMicrosecond);
}

}  // namespace spotter::trace
