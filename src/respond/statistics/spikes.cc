#include "respond/statistics/spikes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spotter::respond {

Result<void> check(const SpikeOptions& o) {
  if (o.window < 3 || o.window > 10'000) return fail(Code::invalid, "window: {} steps: 3 to 10000", o.window);
  if (o.least < 3 || o.least > o.window)
    return fail(Code::invalid, "least: {} spikes: 3, which have two distances, to window, {}", o.least,
                o.window);
  if (!(o.ratio > 1 && std::isfinite(o.ratio))) return fail(Code::invalid, "ratio: {}: above 1", o.ratio);
  if (!(o.regular >= 0 && o.regular < 1)) return fail(Code::invalid, "regular: {}: 0 to below 1", o.regular);
  return {};
}

void Spikes::add(const Step& step, double usual) {
  if (step.run != run_) *this = Spikes(options_);
  run_ = step.run;
  ++added_;
  while (!spikes_.empty() && spikes_.front().last <= added_ - options_.window) spikes_.pop_front();
  if (!(static_cast<double>(step.took) >= options_.ratio * usual)) return;
  if (!spikes_.empty() && spikes_.back().last == added_ - 1)
    spikes_.back().last = added_;
  else
    spikes_.push_back({.first = added_, .last = added_});
}

bool Spikes::has_spikes() const {
  if (count() < options_.least) return false;
  i64 least = std::numeric_limits<i64>::max(), most = 0;
  for (size_t i = 1; i < spikes_.size(); ++i) {
    const i64 distance = spikes_[i].first - spikes_[i - 1].first;
    least = std::min(least, distance);
    most = std::max(most, distance);
  }
  return static_cast<double>(most - least) > options_.regular * static_cast<double>(most);
}

}  // namespace spotter::respond
