// oom_kill: the kernel ended a process for want of memory.
#include <map>

#include "respond/rules/columns.h"
#include "respond/rules/list.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"vmstat", "cgroup"};
constexpr const char* kNames[] = {"oom_kills", "cgroup", "job", "user"};
enum : size_t { kKills, kGroup, kJob, kUser };

class OomKill : public Watch {
 public:
  // The kernel counts for the whole machine, and for each control group: of a job's it is known whose they
  // are.
  void see(const Sample& sample, const HostFacts&, std::vector<Sign>& signs) override {
    const bool are_groups = sample.table.name() == "cgroup";
    Columns& columns = are_groups ? groups_ : machine_;
    columns.find(sample.table);
    std::map<std::string, i64> now;
    for (size_t row = 0; row < sample.table.rows(); ++row) {
      const auto kills = columns.integer(row, kKills);
      if (!kills) continue;
      const std::string group(columns.text(row, kGroup));
      now[group] = *kills;
      const auto before = kills_.find(group);
      if (before == kills_.end() || *kills <= before->second) continue;
      Sign& sign = signs.emplace_back(Condition(), true);
      sign.condition.job = columns.text(row, kJob);
      sign.condition.user = columns.text(row, kUser);
      sign.condition.device = group;
      sign.condition.source = are_groups ? "cgroup" : "/proc/vmstat";
      sign.condition.unit = "count";
      sign.condition.value = static_cast<double>(*kills - before->second);
      if (sign.condition.job.empty()) sign.urgency = Urgency::warning;
    }
    // The other table's stay.
    std::erase_if(kills_, [&](const auto& k) { return k.first.empty() != are_groups; });
    kills_.merge(now);
  }

 private:
  Columns groups_{kNames}, machine_{kNames};
  std::map<std::string, i64> kills_;  // by group; empty: the machine
};

}  // namespace

const Rule kOomKill = {
    .name = "oom_kill",
    .family = "host",
    .urgency = Urgency::critical,
    .meaning = "The kernel ended a process for want of memory; one that is of no job is a warning.",
    .remedy = "give the job more memory, or lower what it uses: workers of data loaders first",
    .rank_as_cause = 2,
    .hold = "0s",
    .recover = "15m",
    .tables = kTables,
    .settings = {},
    .make = [](const Settings&) -> std::unique_ptr<Watch> { return std::make_unique<OomKill>(); },
};

}  // namespace spotter::respond
