// EnergyWatch: whether a counter of energy stands still although power is drawn: then it is stuck.
#pragma once
#include <optional>

#include "base/time.h"
#include "base/types.h"

namespace spotter::collect {

class EnergyWatch {
 public:
  // With each new count, in any unit. Drivers renew it at least ten times a second.
  bool is_stuck(u64 count, bool draws_power, Ns steady) {
    if (count != last_) {
      last_ = count;
      since_ = steady;
      return false;
    }
    return draws_power && steady - since_ >= kMoves;
  }
  void forget() { last_.reset(); }

 private:
  static constexpr Ns kMoves = 500 * kMillisecond;
  std::optional<u64> last_;
  Ns since_ = 0;
};

}  // namespace spotter::collect
