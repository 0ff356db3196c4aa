// Drift: whether steps become slower little by little: the slope of Theil and Sen of two hours of medians of
// blocks (StepBlocks), where Kendall's tau says that it is one. One thread.
#pragma once
#include <deque>
#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "respond/steps/step_blocks.h"

namespace spotter::respond {

struct DriftOptions {
  Ns window = 2 * kHour;
  i64 points = 200;        // of the window, at most: blocks that come faster are passed over
  double per_hour = 0.05;  // of the level
  double tau = 0.5;
};
Result<void> check(const DriftOptions& options);

struct TrendPoint {
  Ns at = 0;
  double value = 0;
};

struct Trend {
  double per_hour = 0;  // of the median: 0.05 is 5 % an hour
  double tau = 0;       // -1 to 1: of all pairs, how many more rise than fall
  i64 points = 0;
};

// Of two points or more, in the order of time, whose median is above 0. Takes the square of their number.
Trend trend_of(const std::deque<TrendPoint>& points);

class Drift {
 public:
  explicit Drift(const DriftOptions& options) : options_(options) {}  // checked ones

  void add(const Block& block);

  // As of the newest point; nothing until there is a window full of them.
  const std::optional<Trend>& trend() const { return trend_; }
  bool is_drifting() const;

 private:
  DriftOptions options_;
  i64 run_ = 0;
  std::deque<TrendPoint> points_;
  std::optional<Trend> trend_;
};

}  // namespace spotter::respond
