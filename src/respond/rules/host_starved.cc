// host_starved: tasks of a host stall for want of memory, processors or disks.
#include <algorithm>
#include <array>

#include "respond/rules/columns.h"
#include "respond/rules/list.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"pressure"};
constexpr const char* kNames[] = {"resource", "full_avg10_ratio", "some_avg60_ratio", "full_avg60_ratio"};

constexpr Setting kSettings[] = {
    {"memory", "0.1", "Part of 10 s in which all tasks waited for memory.", is_share},
    {"cpu", "0.5", "Part of a minute in which some task waited for a processor.", is_share},
    {"io", "0.3", "Part of a minute in which all tasks waited for disks.", is_share},
};

struct Resource {
  const char* name;
  size_t column;
};
constexpr Resource kResources[] = {{"memory", 1}, {"cpu", 2}, {"io", 3}};

class HostStarved : public Watch {
 public:
  explicit HostStarved(const Settings& settings) {
    for (size_t i = 0; i < limits_.size(); ++i) limits_[i] = number_of(settings, kResources[i].name);
  }

  void see(const Sample& sample, const HostFacts& facts, std::vector<Sign>& signs) override {
    columns_.find(sample.table);
    for (size_t row = 0; row < sample.table.rows(); ++row) {
      const auto* resource = std::ranges::find(kResources, columns_.text(row, 0), &Resource::name);
      if (resource == std::end(kResources)) continue;
      const auto ratio = columns_.real(row, resource->column);
      if (!ratio) continue;
      const double limit = limits_[static_cast<size_t>(resource - kResources)];
      Sign& sign = signs.emplace_back(Condition(), *ratio >= limit);
      sign.is_of_host = true;
      sign.condition.job = facts.only_job();
      sign.condition.user = facts.user_of(sign.condition.job);
      sign.condition.device = resource->name;
      sign.condition.source = "/proc/pressure";
      sign.condition.unit = "ratio";
      sign.condition.value = *ratio;
      sign.condition.baseline = limit;
    }
  }

 private:
  std::array<double, std::size(kResources)> limits_ = {};
  Columns columns_{kNames};
};

}  // namespace

const Rule kHostStarved = {
    .name = "host_starved",
    .family = "host",
    .urgency = Urgency::warning,
    .meaning =
        "Tasks of a host stall: all of them for memory in 10 % of 10 s, some for a processor in "
        "half of a minute, or all for disks in 30 % of it.",
    .remedy = "look at what else runs on the host, and at the limits of the job",
    .rank_as_cause = 4,
    .hold = "30s",
    .recover = "60s",
    .tables = kTables,
    .settings = kSettings,
    .make = [](const Settings& s) -> std::unique_ptr<Watch> { return std::make_unique<HostStarved>(s); },
};

}  // namespace spotter::respond
