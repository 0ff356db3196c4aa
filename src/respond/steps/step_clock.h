// StepClock: from the ends of steps, as a source tells them, to steps and how long each took: those whose
// time counts. One thread; no clock of its own.
#pragma once
#include <optional>

#include "base/result.h"
#include "base/time.h"

namespace spotter::respond {

struct StepEnd {
  i64 step = 0;                  // its number; where a source has none, a count of ours
  Ns at = 0;                     // when it was seen to end, Unix time
  std::optional<Ns> stamp = {};  // when it ended by the source's own clock, of which only differences count
  std::optional<Ns> took = {};   // what the source says that it took, or each since the source's last word
};

struct Step {
  i64 step = 0;
  Ns end = 0;
  Ns took = 0;  // > 0
  i64 run = 0;  // grows when the job begins anew
};

struct StepClockOptions {
  i64 left_out_first = 50;      // steps of a run: they compile
  Ns capture_margin = kMinute;  // around our own captures
  Ns longest_step = 10 * kDay;  // what claims to take longer is no step
};
Result<void> check(const StepClockOptions& options);

struct StepCounts {
  i64 usable = 0;
  i64 first = 0;     // left out: of the first of a run
  i64 captured = 0;  // left out: near a capture of ours
  i64 unusable = 0;  // no time, none or a negative one, or one that is too long
  i64 repeated = 0;  // the same step again, as bars of progress are drawn again
};

class StepClock {
 public:
  explicit StepClock(const StepClockOptions& options) : options_(options) {}  // checked ones

  // The step that ended, if its time is to count. A number that is lower than the last begins a new run. The
  // first end of a run only says when the next step began, unless it says how long it took.
  std::optional<Step> add(const StepEnd& end);

  // Begins a new run, whatever its numbers will be: its processes are others.
  void restart();

  // A capture of ours, from its beginning to its end, which may be still to come: what ends within the margin
  // of it, of the steps that are added after this, is left out. Captures come in the order of time.
  void leave_out(Ns from, Ns until);

  const StepCounts& counts() const { return counts_; }

 private:
  Ns took(const StepEnd& end) const;  // of one that says it, or comes after another one

  StepClockOptions options_;
  StepCounts counts_;
  std::optional<StepEnd> last_;
  i64 first_step_ = 0;  // of this run
  i64 run_ = 0;
  Ns quiet_from_ = 0, quiet_until_ = 0;
};

}  // namespace spotter::respond
