#include "respond/steps/step_clock.h"

#include <algorithm>

#include "base/saturated.h"

namespace spotter::respond {

Result<void> check(const StepClockOptions& options) {
  if (options.left_out_first < 0)
    return fail(Code::invalid, "left_out_first: {} is negative", options.left_out_first);
  if (options.capture_margin < 0) return fail(Code::invalid, "capture_margin: a negative time");
  if (options.longest_step <= 0) return fail(Code::invalid, "longest_step: a step takes some time");
  return {};
}

Ns StepClock::took(const StepEnd& end) const {
  if (end.took) return *end.took;
  const i64 steps = subtract_saturated(end.step, last_->step);
  // What is printed to a file comes in blocks: the source's own times are the better ones.
  if (end.stamp && last_->stamp) return subtract_saturated(*end.stamp, *last_->stamp) / steps;
  return subtract_saturated(end.at, last_->at) / steps;
}

std::optional<Step> StepClock::add(const StepEnd& end) {
  if (last_ && end.step == last_->step) {
    ++counts_.repeated;
    return {};
  }
  if (last_ && end.step < last_->step) restart();
  if (!last_) first_step_ = end.step;
  if (!last_ && !end.took) {
    last_ = end;
    return {};
  }
  const Ns time = took(end);
  // A source that speaks at every tenth step gives a mean of all of them.
  const Ns began = last_ ? last_->at : subtract_saturated(end.at, time);
  last_ = end;
  if (time <= 0 || time > options_.longest_step) {
    ++counts_.unusable;
    return {};
  }
  if (subtract_saturated(end.step, first_step_) < options_.left_out_first) {
    ++counts_.first;
    return {};
  }
  if (began < quiet_until_ && end.at > quiet_from_) {
    ++counts_.captured;
    return {};
  }
  ++counts_.usable;
  return Step{.step = end.step, .end = end.at, .took = time, .run = run_};
}

void StepClock::restart() {
  last_.reset();
  ++run_;
}

void StepClock::leave_out(Ns from, Ns until) {
  from = subtract_saturated(from, options_.capture_margin);
  until = add_saturated(std::max(from, until), options_.capture_margin);
  // One stretch is enough: what was left out before has been left out, unless the two are one.
  const bool is_over = last_ && quiet_until_ <= last_->at;
  if (quiet_until_ <= quiet_from_ || (is_over && from > quiet_until_)) {
    quiet_from_ = from;
    quiet_until_ = until;
    return;
  }
  quiet_from_ = std::min(quiet_from_, from);
  quiet_until_ = std::max(quiet_until_, until);
}

}  // namespace spotter::respond
