#include "respond/steps/step_time.h"

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
  return ended;
}

std::optional<StepTimeEvent> StepTime::add(const Step& step) {
  std::optional<StepTimeEvent> ended;
  if (step.run != blocks_.run()) ended = begin_run(step);
  completed_ = blocks_.add(step);
  if (!completed_) return ended;
  const std::optional<StepTimeEvent> judged = add(*completed_);
  return ended ? ended : judged;
}

size_t StepTime::most_normal() const {
  return static_cast<size_t>(blocks_.sizes().baseline + std::max(options_.gap, options_.of));
}

std::optional<Level> StepTime::level() const {
  const i64 after = options_.gap - 1;  // between the baseline and the block that comes
  const i64 baseline = blocks_.sizes().baseline;
  if (std::ssize(normal_) < baseline + after) return {};
  std::vector<double> medians(normal_.end() - after - baseline, normal_.end() - after);
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
  normal_.push_back(block.median);
  while (normal_.size() > most_normal()) normal_.pop_front();
  last_normal_.push_back({block, is_slow});
  while (std::ssize(last_normal_) > options_.of) last_normal_.pop_front();
  const auto is_marked = [](const Judged& judged) { return judged.is_slow; };
  if (std::ranges::count_if(last_normal_, is_marked) < options_.slow) return {};
  const auto first = std::ranges::find_if(last_normal_, is_marked);
  const StepTimeEvent began = event(Kind::began, first->block, block.median);
  is_slow_ = true;
  slow_blocks_ = 0;
  recovered_.clear();
  // What is slow is no part of what is normal afterwards.
  slow_.assign(first, last_normal_.end());
  last_normal_.erase(first, last_normal_.end());
  normal_.resize(normal_.size() - slow_.size());
  return began;
}

void StepTime::take_as_normal(const Block& block) {
  normal_.push_back(block.median);
  last_normal_.push_back({block, false});
  while (std::ssize(last_normal_) > options_.of) last_normal_.pop_front();
}

std::optional<StepTimeEvent> StepTime::judge_slow(const Block& block) {
  slow_.push_back({block, false});
  while (slow_.size() > most_normal()) slow_.pop_front();
  ++slow_blocks_;
  if (block.median < options_.recovered_ratio * baseline_->median)
    recovered_.push_back(block);
  else
    recovered_.clear();
  const bool has_recovered = std::ssize(recovered_) == options_.recovered;
  if (!has_recovered && slow_blocks_ < options_.adopted) return {};
  is_slow_ = false;
  if (has_recovered) {
    for (const Block& one : recovered_) take_as_normal(one);
    return event(Kind::recovered, recovered_.front(), block.median);
  }
  const Block first = slow_.front().block;
  normal_.clear();
  last_normal_.clear();
  for (const Judged& judged : slow_) take_as_normal(judged.block);
  slow_.clear();
  const Level adopted = *level();
  const StepTimeEvent normal = event(Kind::new_normal, first, adopted.median);
  baseline_ = adopted;
  return normal;
}

}  // namespace spotter::respond
