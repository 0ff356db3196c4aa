// StepLoop: the steps of one job as its log lines tell them. A job prints bars of progress of other loops,
// too (evaluation, loading of files), and each of its ranks may print the same line: one loop is kept to, a
// (file, form, of). It is the one in which the job has spent most time, as far as it was seen; but a form of
// the user comes before those of frameworks, and these before tqdm's. One that has been silent for ten
// minutes gives way to any. One thread; no clock of its own; of few loops at a time.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "respond/steps/step_clock.h"
#include "respond/steps/step_lines.h"

namespace spotter::respond {

struct LoopStep {
  Ns took = 0;
  Ns within = 0;  // by how much it may be wrong, by what it is told from: printed digits, times of lines
};

struct LoopLine {
  StepLine line = {};
  u64 file = 0;      // any number that tells files apart
  Ns at = 0;         // when it came, Unix time
  Ns at_within = 0;  // it may have come so much earlier
};

class StepLoop {
 public:
  void add(const LoopLine& line);

  // The file has ended: its loop gives way to any.
  void leave(u64 file);

  // Those that have ended since the last call. Of lines that say no time and have no time of their own, which
  // may come many at once, the last one tells the mean since the one before.
  std::vector<LoopStep> take();

  std::string_view form() const { return loop_ ? loop_->form : ""; }  // empty: no step was seen
  // When its newest line came.
  std::optional<Ns> last() const { return loop_ ? std::optional(loop_->at) : std::nullopt; }
  i64 steps() const { return steps_; }    // how many since the first line
  i64 others() const { return others_; }  // lines of other loops

 private:
  struct Loop {
    u64 file = 0;
    std::string_view form;
    std::optional<i64> of;
    i64 step = 0;
    Ns at = 0;     // of its newest line
    Ns spent = 0;  // from line to line of it
  };
  Loop& loop_of(const LoopLine& line);
  bool is_current(const Loop& loop, Ns at) const;
  void begin(const Loop& loop);
  void tell(const LoopLine& line);

  StepClock clock_{{.left_out_first = 0, .capture_margin = 0}};
  std::vector<Loop> loops_;
  std::optional<Loop> loop_;  // as it was at its last line
  bool is_left_ = false;
  std::optional<LoopLine> pending_, told_;
  std::optional<i64> step_, before_;  // the last numbers, of which before_ is another one
  std::vector<LoopStep> ended_;
  i64 steps_ = 0, others_ = 0;
};

}  // namespace spotter::respond
