// SteadyCounter: a counter of time that the kernel lets go back a little: what a sleeping processor waited
// for is booked from iowait to idle when it wakes (proc.rst, "iowait"), and parts of a time are rounded one
// by one. To whoever takes rates, any step back is a counter that began anew.
#pragma once
#include <algorithm>

#include "base/saturated.h"
#include "base/time.h"
#include "base/types.h"

namespace spotter::collect {

class SteadyCounter {
 public:
  // What it has come to, as the sum of that many processors; never less than before, unless it did begin
  // anew: a processor that was taken out and put back.
  Ns update(Ns value, i64 processors = 1) {
    if (value >= last_ || subtract_saturated(last_, value) / std::max<i64>(processors, 1) > kAnew)
      last_ = value;
    return last_;
  }

 private:
  static constexpr Ns kAnew = 30 * kSecond;  // more than a processor sleeps at a stretch
  Ns last_ = 0;
};

}  // namespace spotter::collect
