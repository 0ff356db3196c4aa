// WrappedCounter: a total that only grows, of a sum of counters of 32 bits that wrap around, as the kernel's
// counters of interrupts do for each processor.
#pragma once
#include "base/saturated.h"
#include "base/types.h"

namespace spotter::collect {

class WrappedCounter {
 public:
  // The total, of what the counters are together now. is_same: they are the same counters as the last time,
  // so that less can only mean that one of them wrapped; otherwise some went, and their share of the time
  // since then is lost.
  i64 update(i64 sum, bool is_same) {
    i64 step = subtract_saturated(sum, last_);
    // A counter that began anew looks like a wrap, too, but as one that counted for half its range since the
    // last time.
    if (step < 0 && is_same) step = add_saturated(step, i64{1} << 32);
    if (step >= i64{1} << 31 && sum < last_) step = 0;
    if (step > 0) total_ = add_saturated(total_, step);
    last_ = sum;
    return total_;
  }

 private:
  i64 last_ = 0, total_ = 0;
};

}  // namespace spotter::collect
