#include "respond/step_time.h"

#include <algorithm>
#include <cmath>

namespace spotter::respond {
namespace {

using Kind = StepTimeEvent::Kind;

constexpr i64 kMostSteps = 1000, kMostBlocks = 10'000;  // what is kept in memory

Result<void> check_sizes(const BlockSizes& sizes, const char* name) {
  if (sizes.steps < 1 || sizes.steps > kMostSteps)
    return fail(Code::invalid, "{}: blocks of {} steps: 1 to {}", name, sizes.steps, kMostSteps);
  if (sizes.baseline < 3 || sizes.baseline > kMostBlocks)
    return fail(Code::invalid, "{}: a baseline of {} blocks: 3 to {}", name, sizes.baseline, kMostBlocks);
  return {};
}

double median_of(std::vector<double> values) { return median(values); }

}  // namespace

Result<void> check(const StepTimeOptions& o) {
  TRY(check_sizes(o.sizes, "sizes"));
  TRY(check_sizes(o.slow_sizes, "slow_sizes"));
  if (o.slow_sizes.steps > o.sizes.steps)
    return fail(Code::invalid, "slow_sizes: blocks of long steps have no more steps than others");
  if (o.slow_step <= 0) return fail(Code::invalid, "slow_step: a step takes some time");
  if (o.gap < 1 || o.gap > kMostBlocks) return fail(Code::invalid, "gap: {}: 1 to {}", o.gap, kMostBlocks);
  if (!(o.ratio > 1 && o.ratio <= 100))
    return fail(Code::invalid, "ratio: {}: above 1, at most 100", o.ratio);
  if (!(o.recovered_ratio > 1 && o.recovered_ratio < o.ratio))
    return fail(Code::invalid, "recovered_ratio: {}: between 1 and ratio, {}", o.recovered_ratio, o.ratio);
  if (!(o.spreads > 0 && std::isfinite(o.spreads)))
    return fail(Code::invalid, "spreads: {}: above 0", o.spreads);
  if (!(o.least_spread > 0 && o.least_spread < 1))
    return fail(Code::invalid, "least_spread: {}: between 0 and 1", o.least_spread);
  if (o.of < 1 || o.of > kMostBlocks || o.slow < 1 || o.slow > o.of)
    return fail(Code::invalid, "slow, of: {} of {} blocks", o.slow, o.of);
  if (o.recovered < 1 || o.recovered > kMostBlocks)
    return fail(Code::invalid, "recovered: {}: 1 to {} blocks", o.recovered, kMostBlocks);
  // By then there has to be a baseline of slow blocks.
  const i64 least = std::max(o.sizes.baseline, o.slow_sizes.baseline) + o.gap;
  if (o.adopted < least) return fail(Code::invalid, "adopted: {} blocks: at least {}", o.adopted, least);
  return {};
}

StepTimeOptions sensitive(StepTimeOptions options) {
  options.ratio = 1.07;
  options.recovered_ratio = 1.035;
  return options;
}

StepTimeEvent StepTime::event(Kind kind, const Block& since, double now) const {
  return {.kind = kind,
          .step = since.step,
          .since = since.from,
          .now = now,
          .baseline = baseline_->median,
          .spreads = (now - baseline_->median) / baseline_->spread};
}

std::optional<StepTimeEvent> StepTime::begin_run(const Step& step) {
  std::optional<StepTimeEvent> ended;
  if (is_slow_) {
    const Block since = {.step = step.step, .from = step.end - step.took};
    ended = event(Kind::restarted, since, slow_.back().block.median);
  }
  *this = StepTime(options_);
  run_ = step.run;
  return ended;
}

std::optional<StepTimeEvent> StepTime::add(const Step& step) {
  std::optional<StepTimeEvent> ended;
  if (step.run != run_) ended = begin_run(step);
  completed_.reset();
  if (steps_.empty()) open_ = {.step = step.step, .from = step.end - step.took, .run = step.run};
  steps_.push_back(static_cast<double>(step.took));
  if (!has_size_ && std::ssize(steps_) == options_.slow_sizes.steps) {
    has_size_ = true;
    blocks_are_small_ = median_of(steps_) > static_cast<double>(options_.slow_step);
  }
  if (!has_size_ || std::ssize(steps_) < sizes().steps) return ended;
  open_.until = step.end;
  open_.median = median(steps_);
  steps_.clear();
  completed_ = open_;
  const std::optional<StepTimeEvent> judged = add(open_);
  return ended ? ended : judged;
}

std::optional<Level> StepTime::level() const {
  const i64 after = options_.gap - 1;  // between the baseline and the block that comes
  if (std::ssize(normal_) < sizes().baseline + after) return {};
  std::vector<double> medians;
  for (auto i = normal_.end() - after - sizes().baseline; i != normal_.end() - after; ++i)
    medians.push_back(i->block.median);
  Level level = level_of(medians);
  level.spread = std::max(level.spread, options_.least_spread * level.median);
  return level;
}

std::optional<StepTimeEvent> StepTime::add(const Block& block) {
  return is_slow_ ? judge_slow(block) : judge(block);
}

std::optional<StepTimeEvent> StepTime::judge(const Block& block) {
  baseline_ = level();
  const bool is_slow = baseline_ && block.median >= options_.ratio * baseline_->median &&
                       block.median - baseline_->median >= options_.spreads * baseline_->spread;
  normal_.push_back({block, is_slow});
  while (std::ssize(normal_) > sizes().baseline + std::max(options_.gap, options_.of)) normal_.pop_front();
  const auto last = normal_.end() - std::min<i64>(options_.of, std::ssize(normal_));
  if (std::count_if(last, normal_.end(), [](const Judged& j) { return j.is_slow; }) < options_.slow)
    return {};
  const auto first = std::find_if(last, normal_.end(), [](const Judged& j) { return j.is_slow; });
  const StepTimeEvent began = event(Kind::began, first->block, block.median);
  is_slow_ = true;
  slow_blocks_ = 0;
  recovered_.clear();
  // What is slow is no part of what is normal afterwards.
  slow_.assign(first, normal_.end());
  normal_.erase(first, normal_.end());
  return began;
}

std::optional<StepTimeEvent> StepTime::judge_slow(const Block& block) {
  slow_.push_back({block, false});
  while (std::ssize(slow_) > sizes().baseline + std::max(options_.gap, options_.of)) slow_.pop_front();
  ++slow_blocks_;
  if (block.median < options_.recovered_ratio * baseline_->median)
    recovered_.push_back(block);
  else
    recovered_.clear();
  const bool has_recovered = std::ssize(recovered_) == options_.recovered;
  if (!has_recovered && slow_blocks_ < options_.adopted) return {};
  is_slow_ = false;
  if (has_recovered) {
    for (const Block& one : recovered_) normal_.push_back({one, false});
    return event(Kind::recovered, recovered_.front(), block.median);
  }
  normal_ = std::move(slow_);
  for (Judged& judged : normal_) judged.is_slow = false;
  slow_.clear();
  const Level adopted = *level();
  const StepTimeEvent normal = event(Kind::new_normal, normal_.front().block, adopted.median);
  baseline_ = adopted;
  return normal;
}

}  // namespace spotter::respond
