#include "respond/steps/step_blocks.h"

#include "respond/statistics/median.h"

namespace spotter::respond {

std::optional<Block> StepBlocks::add(const Step& step) {
  if (step.run != open_.run) {
    *this = StepBlocks(options_);
    open_.run = step.run;
  }
  if (steps_.empty()) open_ = {.step = step.step, .from = step.end - step.took, .run = step.run};
  steps_.push_back(static_cast<double>(step.took));
  if (!has_size_ && std::ssize(steps_) == options_.slow_sizes.steps) {
    has_size_ = true;
    std::vector<double> first = steps_;
    are_small_ = median(first) > static_cast<double>(options_.slow_step);
  }
  if (!has_size_ || std::ssize(steps_) < sizes().steps) return {};
  open_.until = step.end;
  open_.median = median(steps_);
  steps_.clear();
  return open_;
}

}  // namespace spotter::respond
