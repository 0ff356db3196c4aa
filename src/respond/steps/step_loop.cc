#include "respond/steps/step_loop.h"

#include <algorithm>
#include <utility>

#include "base/saturated.h"

namespace spotter::respond {
namespace {

constexpr size_t kMostLoops = 16;
constexpr Ns kPatience = 10 * kMinute;
constexpr Ns kAhead = 5 * kSecond;         // and half as much again: two that run side by side do not change
constexpr Ns kStampWithin = kMillisecond;  // log lines have times of three digits behind the second
constexpr size_t kMostEnded = 100'000;

int rank_of(std::string_view form) { return form == kOwnForm ? 0 : form == "tqdm" ? 2 : 1; }

}  // namespace

// Where there are too many, that in which least time was spent is forgotten.
StepLoop::Loop& StepLoop::loop_of(const LoopLine& line) {
  const auto known = std::ranges::find_if(loops_, [&](const Loop& loop) {
    return loop.file == line.file && loop.form == line.line.form && loop.of == line.line.of;
  });
  if (known != loops_.end()) return *known;
  if (loops_.size() == kMostLoops) loops_.erase(std::ranges::min_element(loops_, {}, &Loop::spent));
  return loops_.emplace_back(Loop{line.file, line.line.form, line.line.of, *line.line.step, line.at, 0});
}

bool StepLoop::is_current(const Loop& loop, Ns at) const {
  if (!loop_ || is_left_) return true;
  if (loop.file == loop_->file && loop.form == loop_->form && loop.of == loop_->of) return true;
  if (subtract_saturated(at, loop_->at) > kPatience) return true;
  if (rank_of(loop.form) != rank_of(loop_->form)) return rank_of(loop.form) < rank_of(loop_->form);
  return loop.spent > add_saturated(loop_->spent, loop_->spent / 2 + kAhead);
}

void StepLoop::begin(const Loop& loop) {
  if (loop_ && loop.file == loop_->file && loop.form == loop_->form && loop.of == loop_->of) return;
  clock_.restart();
  pending_ = told_ = std::nullopt;
  step_ = before_ = std::nullopt;
}

void StepLoop::add(const LoopLine& line) {
  if (!line.line.step) return;
  const i64 step = *line.line.step;
  Loop& loop = loop_of(line);
  if (step > loop.step)
    loop.spent = add_saturated(loop.spent, std::max<Ns>(0, subtract_saturated(line.at, loop.at)));
  loop.step = step;
  loop.at = line.at;
  if (!is_current(loop, line.at)) {
    ++others_;
    return;
  }
  begin(loop);
  loop_ = loop;
  is_left_ = false;
  // Ranks that print into one file say the same one after another, some a step late.
  if (step_ && (step == *step_ || (step < *step_ && before_ && step >= *before_))) return;
  if (step_ && step > *step_) steps_ = add_saturated(steps_, subtract_saturated(step, *step_));
  before_ = step_ && step > *step_ ? step_ : std::nullopt;
  step_ = step;
  if (line.line.stamp && pending_ && pending_->line.stamp) tell(LoopLine(*pending_));
  if (line.line.took || (line.line.stamp && told_ && told_->line.stamp))
    tell(line);
  else
    pending_ = line;
}

void StepLoop::leave(u64 file) {
  if (loop_ && loop_->file == file) is_left_ = true;
  std::erase_if(loops_, [&](const Loop& loop) { return loop.file == file; });
}

void StepLoop::tell(const LoopLine& line) {
  pending_.reset();
  const std::optional<LoopLine> before = std::exchange(told_, line);
  const auto step = clock_.add(*step_end(line.line, line.at));
  if (!step) return;
  LoopStep ended{.took = step->took, .within = line.line.took_within};
  if (!line.line.took && before) {
    const i64 steps = std::max<i64>(1, subtract_saturated(*line.line.step, *before->line.step));
    const bool has_stamps = line.line.stamp && before->line.stamp;
    ended.within = (has_stamps ? kStampWithin : add_saturated(line.at_within, before->at_within)) / steps;
  }
  if (ended_.size() < kMostEnded) ended_.push_back(ended);
}

std::vector<LoopStep> StepLoop::take() {
  if (const auto pending = std::exchange(pending_, std::nullopt)) tell(*pending);
  return std::exchange(ended_, {});
}

}  // namespace spotter::respond
