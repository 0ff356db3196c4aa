// Which steps contain a moment. Steps may overlap or enclose one another, as marks of two loops do.
#pragma once
#include <algorithm>
#include <vector>

#include "trace/steps.h"

namespace spotter::trace {

class StepsAt {
 public:
  // By start; they outlive it.
  explicit StepsAt(const std::vector<Step>& steps) : steps_(steps) {
    for (const Step& step : steps)
      latest_end_.push_back(latest_end_.empty() ? step.end : std::max(latest_end_.back(), step.end));
  }

  // Calls use(index) for each step that contains `time`, the last to begin first.
  template <class F>
  void for_each(Ns time, F use) const {
    const auto after = std::ranges::upper_bound(steps_, time, {}, &Step::start);
    for (auto i = static_cast<size_t>(after - steps_.begin()); i > 0 && time < latest_end_[i - 1]; --i)
      if (time < steps_[i - 1].end) use(i - 1);
  }

  // The last to begin of them, or kNone.
  u32 last(Ns time) const {
    u32 found = kNone;
    for_each(time, [&](size_t i) { found = found == kNone ? static_cast<u32>(i) : found; });
    return found;
  }

 private:
  const std::vector<Step>& steps_;
  std::vector<Ns> latest_end_;  // per step, of it and those before it
};

}  // namespace spotter::trace
