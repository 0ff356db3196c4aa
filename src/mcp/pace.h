// Pace: how often one caller may call: some at once, then so many a second.
#pragma once
#include <algorithm>
#include <mutex>

#include "base/time.h"

namespace spotter::mcp {

class Pace {
 public:
  static constexpr double kAtOnce = 10, kPerSecond = 5;

  // 0: now. Else the caller has to wait so long, and has then called.
  Ns take(Ns now) {
    const std::lock_guard lock(mutex_);
    calls_ = std::min(kAtOnce, calls_ + static_cast<double>(now - since_) / kSecond * kPerSecond);
    since_ = now;
    calls_ -= 1;
    return calls_ >= 0 ? 0 : static_cast<Ns>(-calls_ / kPerSecond * kSecond);
  }
  // The same for who is sent away instead: whether he may now.
  bool may(Ns now) {
    if (take(now) == 0) return true;
    const std::lock_guard lock(mutex_);
    calls_ += 1;
    return false;
  }

 private:
  std::mutex mutex_;
  double calls_ = kAtOnce;
  Ns since_ = 0;
};

}  // namespace spotter::mcp
