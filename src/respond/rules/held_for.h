// HeldFor: whether something was so in a part of the samples of the last while, as GPUs' rules ask of each
// GPU or rank. One thread.
#pragma once
#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/time.h"

namespace spotter::respond {

template <class Key>
class HeldFor {
 public:
  HeldFor(Ns window, double share) : window_(window), share_(share) {}

  // The sample of a time; of several of one time the first counts. A window that is not full says nothing
  // yet.
  bool add(Key key, Ns at, bool is_so) {
    auto& samples = samples_[std::move(key)];
    if (samples.empty() || samples.back().first != at) samples.emplace_back(at, is_so);
    while (at - samples.front().first > window_) samples.pop_front();
    // Of its ends one sample may be missing.
    if (at - samples.front().first < window_ - window_ / 10) return false;
    const auto held = std::ranges::count_if(samples, [](const auto& s) { return s.second; });
    return held > 0 && static_cast<double>(held) >= share_ * static_cast<double>(samples.size());
  }
  // What has no sample in the window any more.
  void forget(Ns at) {
    std::erase_if(samples_, [&](const auto& of) { return at - of.second.back().first > window_; });
  }

 private:
  Ns window_;
  double share_;
  std::map<Key, std::deque<std::pair<Ns, bool>>> samples_;
};

}  // namespace spotter::respond
