// rank_outlier: a GPU of a job works unlike the others of it on this host (peers.h), by metrics of its own
// work: clocks, and what PCIe is to it. What counts waiting, too, would name those who wait for it.
#include <map>
#include <tuple>

#include "respond/rules/gpu_rows.h"
#include "respond/rules/list.h"
#include "respond/rules/windows.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"gpu"};
constexpr const char* kNames[] = {SPOTTER_GPU_NAMES,    "utilization_ratio", "sm_clock_hertz",
                                  "memory_clock_hertz", "pcie_link_width",   "pcie_link_generation"};
enum : size_t { kUtilization = kGpuColumns, kFirstMetric };
struct Metric {
  const char* unit;
  double floor;
};
// Clocks go in steps of 15 MHz.
constexpr Metric kMetrics[] = {{"Hz", 15e6}, {"Hz", 15e6}, {"lanes", 0.5}, {"generation", 0.1}};
static_assert(std::size(kMetrics) == std::size(kNames) - kFirstMetric);

constexpr Setting kSettings[] = {
    {"window", "5s", "Of the samples whose medians are compared.", is_duration},
    {"spreads", "6", "That it is away from the median of all.", is_positive},
    {"share", "0.15", "Of the median, that it is away from it.", is_share},
    {"busy", "0.5", "Only GPUs that run kernels in this part of the time are compared.", is_share},
};

class RankOutlier : public Watch {
 public:
  explicit RankOutlier(const Settings& s)
      : window_(std::max<Ns>(duration_of(s, "window"), kSecond)), busy_(number_of(s, "busy")) {
    options_.spreads = number_of(s, "spreads");
    options_.share = number_of(s, "share");
  }

  void see(const Sample& sample, const HostFacts&, std::vector<Sign>& signs) override {
    columns_.find(sample.table);
    for (auto& [key, group] : groups_) judge(key, group, sample.at, signs);
    for (size_t row = 0; row < sample.table.rows(); ++row) {
      const std::string job(columns_.text(row, kGpuJob));
      const auto gpu = columns_.integer(row, kGpu);
      if (job.empty() || !gpu) continue;
      for (size_t metric = 0; metric < std::size(kMetrics); ++metric) {
        auto it = groups_.find({job, metric});
        if (it == groups_.end()) {
          options_.floor = kMetrics[metric].floor;
          it = groups_.emplace(std::pair(job, metric), Group{Windows(window_), Peers(options_)}).first;
        }
        Group& group = it->second;
        group.seen = sample.at;
        Condition& condition = group.members[static_cast<u64>(*gpu)];
        condition = gpu_condition(columns_, row);
        const auto value = columns_.real(row, kFirstMetric + metric);
        if (value && columns_.real(row, kUtilization).value_or(0) >= busy_)
          group.windows.add(static_cast<u64>(*gpu), *value);
      }
    }
    std::erase_if(groups_, [&](const auto& group) { return sample.at - group.second.seen > kMinute; });
  }

 private:
  struct Group {
    Windows windows;
    Peers peers;
    Ns seen = 0;
    std::map<u64, Condition> members = {};
    std::map<u64, PeerEvent> outliers = {};
  };

  static void judge(const std::pair<std::string, size_t>& key, Group& group, Ns at,
                    std::vector<Sign>& signs) {
    const auto values = group.windows.turn(at);
    if (!values) return;
    for (const PeerEvent& event : group.peers.add(at, *values)) {
      if (event.kind == PeerEvent::Kind::began)
        group.outliers[event.member] = event;
      else
        group.outliers.erase(event.member);
    }
    for (auto& [member, condition] : group.members) {
      const auto outlier = group.outliers.find(member);
      Sign& sign = signs.emplace_back(condition, outlier != group.outliers.end());
      sign.condition.device += fmt::format(" {}", kNames[kFirstMetric + key.second]);
      sign.condition.unit = kMetrics[key.second].unit;
      if (!sign.is_wrong) continue;
      sign.condition.value = outlier->second.value;
      sign.condition.baseline = outlier->second.median;
      sign.condition.spreads = outlier->second.r;
      sign.condition.since = outlier->second.since;
    }
    group.members.clear();
  }

  Ns window_;
  double busy_;
  PeerOptions options_;
  Columns columns_{kNames};
  std::map<std::pair<std::string, size_t>, Group> groups_;  // by job and metric
};

}  // namespace

const Rule kRankOutlier = {
    .name = "rank_outlier",
    .family = "speed",
    .urgency = Urgency::warning,
    .meaning =
        "A busy GPU's clock, or the width or generation of its PCIe link, is 15 % and 6 spreads away from those "
        "of the job's other GPUs on this host, in 4 of 5 windows of 5 s; of four GPUs and more.",
    .remedy = "look at the power, the cooling and the seat of the GPU, and at clocks that somebody set",
    .rank_as_cause = 5,
    .hold = "0s",
    .recover = "0s",
    .tables = kTables,
    .settings = kSettings,
    .make = [](const Settings& s) -> std::unique_ptr<Watch> { return std::make_unique<RankOutlier>(s); },
};

}  // namespace spotter::respond
