// cpu_throttled: a control group of a job that makes steps is stopped again and again, as it has used the
// time of processors that it may have. Other ranks wait for one that is.
#include <map>
#include <string>

#include "respond/rules/columns.h"
#include "respond/rules/growth.h"
#include "respond/rules/list.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"cgroup", "step"};
constexpr const char* kGroupNames[] = {"cgroup", "job",         "user",
                                       "rank",   "cpu_periods", "cpu_throttled_periods"};
enum : size_t { kGroup, kJob, kUser, kRank, kPeriods, kStopped };
constexpr const char* kStepNames[] = {"job", "steps"};
enum : size_t { kStepJob, kSteps };

constexpr Setting kSettings[] = {
    {"window", "30s", "That is looked at.", is_duration},
    {"share", "0.5", "Of its periods in which it had to stop.", is_share},
};

constexpr i64 kLeastPeriods = 20;  // mostly of 100 ms

class CpuThrottled : public Watch {
 public:
  explicit CpuThrottled(const Settings& s)
      : growth_(duration_of(s, "window")), share_(number_of(s, "share")) {}

  void see(const Sample& sample, const HostFacts&, std::vector<Sign>& signs) override {
    if (sample.table.name() == "step") return see_steps(sample);
    groups_.find(sample.table);
    for (size_t row = 0; row < sample.table.rows(); ++row) {
      const auto periods = groups_.integer(row, kPeriods), stopped = groups_.integer(row, kStopped);
      const std::string job(groups_.text(row, kJob)), group(groups_.text(row, kGroup));
      if (!periods || !stopped || job.empty()) continue;
      const i64 all = growth_.add(group + " all", sample.at, *periods);
      const i64 without = growth_.add(group + " stopped", sample.at, *stopped);
      // A job that begins has its reasons to use all that it may.
      const auto stepped = stepped_.find(job);
      if (stepped == stepped_.end() || sample.at - stepped->second > kMinute) continue;
      const double share = all == 0 ? 0 : static_cast<double>(without) / static_cast<double>(all);
      Sign& sign = signs.emplace_back(Condition(), all >= kLeastPeriods && share >= share_);
      sign.condition.job = job;
      sign.condition.user = groups_.text(row, kUser);
      sign.condition.rank = groups_.integer(row, kRank);
      sign.condition.device = group;
      sign.condition.source = "cgroup";
      sign.condition.unit = "ratio";
      sign.condition.value = share;
    }
    growth_.forget(sample.at);
    std::erase_if(stepped_, [&](const auto& job) { return sample.at - job.second > kMinute; });
  }

 private:
  void see_steps(const Sample& sample) {
    steps_.find(sample.table);
    for (size_t row = 0; row < sample.table.rows(); ++row) {
      const std::string job(steps_.text(row, kStepJob));
      if (steps_.integer(row, kSteps).value_or(0) > 0 &&
          (stepped_.size() < kMostWatched || stepped_.contains(job)))
        stepped_[job] = sample.at;
    }
  }

  Columns groups_{kGroupNames}, steps_{kStepNames};
  Growth growth_;
  double share_;
  std::map<std::string, Ns> stepped_;  // jobs, when a row of their steps was seen last
};

}  // namespace

const Rule kCpuThrottled = {
    .name = "cpu_throttled",
    .family = "host",
    .urgency = Urgency::info,
    .meaning =
        "A control group of a job that makes steps has used up the time of processors that it may have, and is stopped, in half of its "
        "periods of 30 s.",
    .remedy =
        "raise the limit of processors of its container or job, or lower what it does: workers of data loaders first",
    .rank_as_cause = 4,
    .hold = "5s",
    .recover = "60s",
    .tables = kTables,
    .settings = kSettings,
    .make = [](const Settings& s) -> std::unique_ptr<Watch> { return std::make_unique<CpuThrottled>(s); },
};

}  // namespace spotter::respond
