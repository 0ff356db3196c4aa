// Spikes: whether single steps take far longer than others, now and then: 3 of 100 that take twice as long,
// at distances that differ. Those at equal distances are checkpoints and evaluations; a job may have both,
// each in its own time, so what is the fourth of a series or a later one does not count. Steps that follow
// one another are one spike: a checkpoint may last some. One thread.
#pragma once
#include <deque>

#include "base/result.h"
#include "respond/steps/step_clock.h"

namespace spotter::respond {

struct SpikeOptions {
  i64 window = 100;       // steps
  i64 least = 3;          // spikes in it
  double ratio = 2;       // of a spike to the usual step
  double regular = 0.05;  // the distances of what comes regularly differ by no more of the longest
};
Result<void> check(const SpikeOptions& options);

class Spikes {
 public:
  explicit Spikes(const SpikeOptions& options) : options_(options) {}  // checked ones

  // usual: what a step takes, ns: the median of StepTime::baseline().
  void add(const Step& step, double usual);

  i64 count() const;  // in the window
  bool has_spikes() const;

 private:
  struct Spike {
    i64 first = 0, last = 0;  // which of the steps added
    bool is_of_series = false;
  };
  bool is_in_window(const Spike& spike) const { return spike.last > added_ - options_.window; }
  bool is_of_series(i64 first) const;

  SpikeOptions options_;
  i64 run_ = 0;
  i64 added_ = 0;
  std::deque<Spike> spikes_;  // of the window, and some before
};

}  // namespace spotter::respond
