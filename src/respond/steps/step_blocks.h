// StepBlocks: the steps of a job in blocks, each known by the median of its steps. Steps of more than 10 s
// come in smaller blocks: there are few of them. One thread.
#pragma once
#include <optional>
#include <vector>

#include "base/time.h"
#include "respond/steps/step_clock.h"

namespace spotter::respond {

struct BlockSizes {
  i64 steps = 0;     // of a block
  i64 baseline = 0;  // blocks of the baseline
};

struct BlockOptions {
  BlockSizes sizes = {.steps = 8, .baseline = 40};
  BlockSizes slow_sizes = {.steps = 4, .baseline = 20};  // for steps longer than `slow_step`
  Ns slow_step = 10 * kSecond;
};

struct Block {
  i64 step = 0;  // its first one
  Ns from = 0, until = 0;
  double median = 0;  // ns
  i64 run = 0;        // of the job
};

class StepBlocks {
 public:
  explicit StepBlocks(const BlockOptions& options = {}) : options_(options) {}  // checked ones

  // The block that this step completes. What a run of the job before has left open is dropped.
  std::optional<Block> add(const Step& step);

  const BlockSizes& sizes() const { return are_small_ ? options_.slow_sizes : options_.sizes; }
  i64 run() const { return open_.run; }

 private:
  BlockOptions options_;
  bool has_size_ = false;  // the first block says how long blocks are
  bool are_small_ = false;
  Block open_;
  std::vector<double> steps_;  // of the open block
};

}  // namespace spotter::respond
