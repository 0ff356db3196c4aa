#include "respond/statistics/spikes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace spotter::respond {
namespace {

// Spikes: where there are more, the fourth of a series is often one by chance.
constexpr size_t kRemembered = 16;

}  // namespace

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
  while (spikes_.size() > kRemembered && !is_in_window(spikes_.front())) spikes_.pop_front();
  if (!(static_cast<double>(step.took) >= options_.ratio * usual)) return;
  if (!spikes_.empty() && spikes_.back().last == added_ - 1)
    spikes_.back().last = added_;
  else
    spikes_.push_back({.first = added_, .last = added_, .is_of_series = is_of_series(added_)});
}

// Whether there were three before it at one distance; a step more or less is none.
bool Spikes::is_of_series(i64 first) const {
  const auto was_one = [&](i64 step) {
    return std::ranges::any_of(spikes_, [&](const Spike& s) { return std::abs(s.first - step) <= 1; });
  };
  return std::ranges::any_of(spikes_, [&](const Spike& before) {
    const i64 distance = first - before.first;
    return was_one(first - 2 * distance) && was_one(first - 3 * distance);
  });
}

i64 Spikes::count() const {
  return std::ranges::count_if(spikes_, [&](const Spike& spike) { return is_in_window(spike); });
}

bool Spikes::has_spikes() const {
  i64 count = 0, last = 0, least = std::numeric_limits<i64>::max(), most = 0;
  for (const Spike& spike : spikes_) {
    if (spike.is_of_series || !is_in_window(spike)) continue;
    const i64 distance = spike.first - std::exchange(last, spike.first);
    if (++count < 2) continue;
    least = std::min(least, distance);
    most = std::max(most, distance);
  }
  return count >= options_.least &&
         static_cast<double>(most - least) > options_.regular * static_cast<double>(most);
}

}  // namespace spotter::respond
