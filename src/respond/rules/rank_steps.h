// RankSteps: the steps of the ranks of jobs, from the table `step`, each handed to a state of its own for
// each rank. What a sample has of several steps is their median and the longest: one of them took that, the
// others the median. One thread.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "respond/rules/columns.h"
#include "respond/rules/rule.h"
#include "respond/steps/step_clock.h"

namespace spotter::respond {

struct RankOfJob {
  std::string job = {};
  std::optional<i64> rank = {};
  std::string user = {};

  friend auto operator<=>(const RankOfJob&, const RankOfJob&) = default;
};

// Whom a row of the table `step` is about, and what it says.
struct StepRow {
  RankOfJob of = {};
  std::string_view source = {};
  std::optional<Ns> step = {}, longest = {}, age = {};
  i64 steps = 0;
};
class StepRows {
 public:
  StepRows();
  template <class Visit>
  void each(const Sample& sample, Visit visit) {
    columns_.find(sample.table);
    for (size_t row = 0; row < sample.table.rows(); ++row) visit(at(row));
  }

 private:
  StepRow at(size_t row) const;
  Columns columns_;
};

// The condition of a rank, with what is known of it.
Condition condition_of(const StepRow& row);

template <class State>
class RankSteps {
 public:
  // make() makes the state of a new rank. visit(row, steps, state) is called for each rank that has a row,
  // with the steps that ended since the row before, and count.
  template <class Make, class Visit>
  void each(const Sample& sample, const HostFacts& facts, Make make, Visit visit) {
    for (auto& [of, rank] : ranks_) ++rank.missing;
    rows_.each(sample, [&](const StepRow& row) {
      auto it = ranks_.find(row.of);
      if (it == ranks_.end() && ranks_.size() >= kMostWatched) return;
      if (it == ranks_.end()) it = ranks_.emplace(row.of, Rank{StepClock(StepClockOptions()), make()}).first;
      Rank& rank = it->second;
      rank.missing = 0;
      if (const auto capture = facts.last_capture(row.of.job))
        rank.clock.leave_out(capture->from, capture->until);
      visit(row, new_steps(rank, row, sample.at), rank.state);
    });
    std::erase_if(ranks_, [](const auto& rank) { return rank.second.missing > kMostMissing; });
  }

 private:
  struct Rank {
    StepClock clock;
    State state;
    std::optional<i64> steps = {};
    int missing = 0;
  };
  static constexpr int kMostMissing = 60;  // samples without a row of it
  static constexpr i64 kMostSteps = 1000;  // of one sample: more of them are as good as these

  static std::vector<Step> new_steps(Rank& rank, const StepRow& row, Ns at) {
    std::vector<Step> steps;
    const std::optional<i64> before = std::exchange(rank.steps, row.steps);
    if (before && row.steps < *before) rank.clock.restart();
    if (!before || row.steps <= *before || !row.step) return steps;
    const i64 count = std::min(row.steps - *before, kMostSteps);
    for (i64 i = 0; i < count; ++i) {
      const bool is_last = i + 1 == count;
      const Ns took = is_last ? row.longest.value_or(*row.step) : *row.step;
      const Ns end = at - row.age.value_or(0) - (count - 1 - i) * *row.step;
      const auto step =
          rank.clock.add({.step = row.steps - count + 1 + i, .at = end, .stamp = {}, .took = took});
      if (step) steps.push_back(*step);
    }
    return steps;
  }

  StepRows rows_;
  std::map<RankOfJob, Rank> ranks_;
};

}  // namespace spotter::respond
