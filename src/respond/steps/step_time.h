// StepTime: whether the steps of a job have become slower. Medians of blocks of steps are compared with a
// baseline, the blocks before them, which stays as it was while they are slow. Medians, and the spread of
// medians rather than of single steps, since single steps are correlated and have checkpoints among them; a
// test of single steps tells of them hundreds of times in a million steps.
//
// Block j is slow if B >= 1.10 m and (B - m) / s >= 5, with m the median of 40 blocks, the last of which is
// j - 2, and s = max(1.4826 MAD, 0.01 m) of them. It begins with 2 slow ones of 3, and is over after 4 in
// succession that are below 1.05 m. After 300 blocks that did not end it, the new level is the normal one.
// Steps of more than 10 s come in blocks of 4, and 20 of them: less power, but an answer within the hour.
//
// One thread. Memory is bounded by the options.
#pragma once
#include <deque>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "respond/statistics/median.h"
#include "respond/steps/step_blocks.h"

namespace spotter::respond {

struct StepTimeOptions {
  BlockSizes sizes = BlockOptions().sizes;
  BlockSizes slow_sizes = BlockOptions().slow_sizes;  // for steps longer than `slow_step`
  Ns slow_step = BlockOptions().slow_step;
  i64 gap = 2;                    // how many blocks before one its baseline ends
  double ratio = 1.10;            // of a slow block to the baseline
  double recovered_ratio = 1.05;  // half of the rise
  double spreads = 5;             // that a slow block is above the baseline
  double least_spread = 0.01;     // of the baseline's median
  i64 slow = 2, of = 3;           // so many slow blocks of so many begin it
  i64 recovered = 4;              // blocks in succession that end it
  i64 adopted = 300;              // blocks after which the new level is the normal one
};
Result<void> check(const StepTimeOptions& options);

// Tells of +7 %, too.
StepTimeOptions sensitive(StepTimeOptions options = {});

struct StepTimeEvent {
  enum class Kind : u8 {
    began,       // steps are slower
    recovered,   // they are as before
    new_normal,  // they stay so: what was slow is the baseline now
    restarted,   // the job began anew while they were slow: told with the first step of it that counts
  };
  Kind kind = Kind::began;
  i64 step = 0;  // since which one it holds, and since when
  Ns since = 0;
  double now = 0;       // ns: the newest block's median; of new_normal that of the new baseline
  double baseline = 0;  // ns: m, as it was
  double spreads = 0;   // (now - baseline) / s
};

class StepTime {
 public:
  explicit StepTime(const StepTimeOptions& options)  // checked ones
      : options_(options),
        blocks_({.sizes = options.sizes, .slow_sizes = options.slow_sizes, .slow_step = options.slow_step}) {}

  std::optional<StepTimeEvent> add(const Step& step);

  // The block that the last step completed.
  const std::optional<Block>& completed() const { return completed_; }
  // What a block is compared with; nothing before there are enough blocks (of 42 the last is the first one).
  const std::optional<Level>& baseline() const { return baseline_; }
  bool is_slow() const { return is_slow_; }

 private:
  std::optional<StepTimeEvent> begin_run(const Step& step);
  std::optional<StepTimeEvent> add(const Block& block);
  std::optional<StepTimeEvent> judge(const Block& block);
  std::optional<StepTimeEvent> judge_slow(const Block& block);
  void take_as_normal(const Block& block);
  std::optional<Level> level() const;
  StepTimeEvent event(StepTimeEvent::Kind kind, const Block& since, double now) const;

  struct Judged {
    Block block;
    bool is_slow = false;
  };

  // So many blocks are kept as are judged, or are a baseline and what is between it and the next one.
  size_t most_normal() const;

  StepTimeOptions options_;
  StepBlocks blocks_;
  std::optional<Block> completed_;
  // Medians of the newest blocks, and the last of these blocks, by which it begins. Of the many others there
  // is nothing else to keep, and they are read with each block.
  std::deque<double> normal_;
  std::deque<Judged> last_normal_;
  std::optional<Level> baseline_;
  bool is_slow_ = false;
  std::deque<Judged> slow_;      // the newest blocks since it began
  i64 slow_blocks_ = 0;          // all since it began
  std::deque<Block> recovered_;  // those in succession
};

}  // namespace spotter::respond
