// Windows: medians of what is sampled in successive windows of time, by member: what Peers compares. One
// thread.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "respond/statistics/median.h"
#include "respond/statistics/peers.h"

namespace spotter::respond {

class Windows {
 public:
  explicit Windows(Ns length) : length_(length) {}

  // The window before the one that `at` is in, when it is the first of its window; before its values are
  // added.
  std::optional<std::vector<PeerValue>> turn(Ns at) {
    const i64 window = at / length_;
    if (window == window_) return {};
    std::vector<PeerValue> values;
    for (auto& [member, samples] : samples_) values.push_back({.member = member, .value = median(samples)});
    samples_.clear();
    const bool is_first = window_ == 0;
    window_ = window;
    return is_first ? std::nullopt : std::optional(std::move(values));
  }
  void add(u64 member, double value) { samples_[member].push_back(value); }

 private:
  Ns length_;
  i64 window_ = 0;
  std::map<u64, std::vector<double>> samples_;
};

}  // namespace spotter::respond
