// progress_stopped: a rank that stepped steps no more. Far longer than its steps take, and a minute at least:
// an evaluation or a checkpoint may lie between two steps; while much is written it is a checkpoint.
#include <algorithm>
#include <deque>
#include <map>

#include "respond/job_writes.h"
#include "respond/rules/list.h"
#include "respond/rules/rank_steps.h"
#include "respond/statistics/median.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"step", "job"};

constexpr Setting kSettings[] = {
    {"steps", "10", "How many times its usual step nothing may happen.", is_above_one},
    {"least", "60s", "How long it may be quiet whatever its steps take.", is_duration},
    {"min_age", "15m", "How long a rank has to have been seen before it is judged.", is_duration},
    {"checkpoint", "30m", "How long it may be quiet while the job writes a lot.", is_duration},
    {"written", "50000000", "What counts as a lot, bytes a second on this host.", is_positive},
};

constexpr size_t kUsual = 32;  // steps whose median is the usual one
constexpr Ns kWriting = kMinute;

class ProgressStopped : public Watch {
 public:
  explicit ProgressStopped(const Settings& s)
      : steps_(number_of(s, "steps")),
        least_(duration_of(s, "least")),
        min_age_(duration_of(s, "min_age")),
        checkpoint_(duration_of(s, "checkpoint")),
        writes_(number_of(s, "written")) {}

  void see(const Sample& sample, const HostFacts&, std::vector<Sign>& signs) override {
    if (sample.table.name() == "job") return writes_.see(sample);
    rows_.each(sample, [&](const StepRow& row) { judge(row, sample.at, signs); });
    std::erase_if(ranks_, [&](const auto& rank) { return sample.at - rank.second.seen > kHour; });
  }

 private:
  struct Rank {
    Ns first = 0, seen = 0;
    i64 steps = 0;
    std::deque<double> usual = {};
  };

  void judge(const StepRow& row, Ns at, std::vector<Sign>& signs) {
    if (ranks_.size() >= kMostWatched && !ranks_.contains(row.of)) return;
    Rank& rank = ranks_[row.of];
    if (rank.first == 0) rank.first = at;
    rank.seen = at;
    if (row.steps < rank.steps) {
      rank.usual.clear();
      rank.first = at;  // it compiles, and reads its data for the first time
    }
    rank.steps = row.steps;
    if (row.step) {
      rank.usual.push_back(static_cast<double>(*row.step));
      if (rank.usual.size() > kUsual) rank.usual.pop_front();
    }
    if (!row.age || rank.usual.empty() || at - rank.first < min_age_) return;
    if (*row.age < std::min(least_, checkpoint_)) {  // mostly
      signs.emplace_back(condition_of(row), false);
      return;
    }
    std::vector<double> usual(rank.usual.begin(), rank.usual.end());
    const double step = median(usual);
    const Ns written = writes_.last(row.of.job);
    const double limit = written != 0 && at - written < kWriting
                             ? static_cast<double>(checkpoint_)
                             : std::max(steps_ * step, static_cast<double>(least_));
    Sign& sign = signs.emplace_back(condition_of(row), static_cast<double>(*row.age) >= limit);
    const double seconds = 1.0 / static_cast<double>(kSecond);
    sign.condition.value = static_cast<double>(*row.age) * seconds;
    sign.condition.baseline = step * seconds;
    sign.condition.step = row.steps;
    sign.condition.since = at - *row.age;
  }

  double steps_;
  Ns least_, min_age_, checkpoint_;
  JobWrites writes_;
  StepRows rows_;
  std::map<RankOfJob, Rank> ranks_;
};

}  // namespace

const Rule kProgressStopped = {
    .name = "progress_stopped",
    .family = "progress",
    .urgency = Urgency::critical,
    .meaning =
        "A rank that stepped steps no more: for ten of its usual steps, and a minute at least; for half "
        "an hour while its job writes a lot, as at a checkpoint.",
    .remedy = "",
    .rank_as_cause = 0,
    .hold = "0s",
    .recover = "0s",
    .tables = kTables,
    .settings = kSettings,
    .make = [](const Settings& s) -> std::unique_ptr<Watch> { return std::make_unique<ProgressStopped>(s); },
};

}  // namespace spotter::respond
