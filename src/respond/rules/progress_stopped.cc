// progress_stopped: a rank that stepped steps no more. Far longer than its steps take, and a minute at least:
// an evaluation or a checkpoint may lie between two steps; while much is written it is a checkpoint.
#include <deque>
#include <functional>
#include <map>

#include "respond/median.h"
#include "respond/rules/list.h"
#include "respond/rules/rank_steps.h"

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

// How much a job writes, by the totals of its ranks.
class Writing {
 public:
  explicit Writing(double least) : least_(least) {}

  void see(const Sample& sample) {
    columns_.find(sample.table);
    std::map<std::string, i64, std::less<>> totals;
    for (size_t row = 0; row < sample.table.rows(); ++row)
      totals[std::string(columns_.text(row, 0))] += columns_.integer(row, 1).value_or(0);
    std::erase_if(jobs_, [&](const auto& job) { return !totals.contains(job.first); });
    for (const auto& [job, total] : totals) add(jobs_[job], sample.at, total);
  }
  bool is_writing(const std::string& job, Ns at) const {
    const auto it = jobs_.find(job);
    return it != jobs_.end() && it->second.last_busy != 0 && at - it->second.last_busy < kWriting;
  }

 private:
  struct Job {
    Ns at = 0;
    i64 total = 0;
    Ns last_busy = 0;
  };
  // A process's bytes are asked for at every tenth sample: the rate is that of ten of them.
  void add(Job& job, Ns at, i64 total) const {
    if (job.at != 0 && at - job.at < 10 * kSecond) return;
    if (job.at != 0) {
      const double seconds = static_cast<double>(at - job.at) / static_cast<double>(kSecond);
      if (static_cast<double>(total - job.total) / seconds >= least_) job.last_busy = at;
    }
    job.at = at;
    job.total = total;
  }

  static constexpr const char* kNames[] = {"job", "write_bytes"};
  double least_;
  Columns columns_{kNames};
  std::map<std::string, Job, std::less<>> jobs_;
};

class ProgressStopped : public Watch {
 public:
  explicit ProgressStopped(const Settings& s)
      : steps_(number_of(s, "steps")),
        least_(duration_of(s, "least")),
        min_age_(duration_of(s, "min_age")),
        checkpoint_(duration_of(s, "checkpoint")),
        writing_(number_of(s, "written")) {}

  void see(const Sample& sample, const HostFacts&, std::vector<Sign>& signs) override {
    if (sample.table.name() == "job") return writing_.see(sample);
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
    Rank& rank = ranks_[row.of];
    if (rank.first == 0) rank.first = at;
    rank.seen = at;
    if (row.steps < rank.steps) rank.usual.clear();
    rank.steps = row.steps;
    if (row.step) {
      rank.usual.push_back(static_cast<double>(*row.step));
      if (rank.usual.size() > kUsual) rank.usual.pop_front();
    }
    if (!row.age || rank.usual.empty() || at - rank.first < min_age_) return;
    std::vector<double> usual(rank.usual.begin(), rank.usual.end());
    const double step = median(usual);
    const double limit = writing_.is_writing(row.of.job, at)
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
  Writing writing_;
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
