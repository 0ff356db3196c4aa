#include "respond/statistics/drift.h"

#include <cmath>
#include <vector>

#include "respond/statistics/median.h"

namespace spotter::respond {

Result<void> check(const DriftOptions& o) {
  if (o.window < kMinute || o.window > kDay) return fail(Code::invalid, "window: a minute to a day");
  if (o.points < 10 || o.points > 1000) return fail(Code::invalid, "points: {}: 10 to 1000", o.points);
  if (!(o.per_hour > 0 && std::isfinite(o.per_hour)))
    return fail(Code::invalid, "per_hour: {}: above 0", o.per_hour);
  if (!(o.tau > 0 && o.tau <= 1)) return fail(Code::invalid, "tau: {}: above 0, at most 1", o.tau);
  return {};
}

Trend trend_of(const std::deque<TrendPoint>& points) {
  std::vector<double> values, slopes;
  i64 pairs = 0, rising = 0;
  for (auto b = points.begin(); b != points.end(); ++b) {
    values.push_back(b->value);
    for (auto a = points.begin(); a != b; ++a) {
      ++pairs;
      rising += (b->value > a->value) - (b->value < a->value);
      if (b->at > a->at) slopes.push_back((b->value - a->value) / static_cast<double>(b->at - a->at));
    }
  }
  if (slopes.empty()) return {};
  return {.per_hour = median(slopes) * static_cast<double>(kHour) / median(values),
          .tau = static_cast<double>(rising) / static_cast<double>(pairs),
          .points = std::ssize(points)};
}

void Drift::add(const Block& block) {
  const bool is_back = !points_.empty() && block.until < points_.back().at;
  if (block.run != run_ || is_back) {
    points_.clear();
    trend_.reset();
    run_ = block.run;
  }
  const Ns apart = options_.window / (options_.points - 1);
  if (!points_.empty() && block.until - points_.back().at < apart) return;
  points_.push_back({.at = block.until, .value = block.median});
  // A point older than the window is kept until another one is: then the points are of a window at least.
  while (points_.size() > 1 && block.until - points_[1].at >= options_.window) points_.pop_front();
  const bool is_full = block.until - points_.front().at >= options_.window;
  // Where steps stopped for a while there are too few points for tau to mean anything.
  constexpr size_t kLeastPoints = 10;
  if (is_full && points_.size() >= kLeastPoints)
    trend_ = trend_of(points_);
  else
    trend_.reset();
}

bool Drift::is_drifting() const {
  return trend_ && trend_->per_hour >= options_.per_hour && std::abs(trend_->tau) >= options_.tau;
}

}  // namespace spotter::respond
