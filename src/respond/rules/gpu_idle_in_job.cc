// gpu_idle_in_job: a job holds a GPU that does nothing.
#include "respond/rules/gpu_rows.h"
#include "respond/rules/list.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"gpu_activity", "gpu"};
constexpr const char* kNames[] = {SPOTTER_GPU_NAMES, "sm_active_ratio", "utilization_ratio"};
enum : size_t { kActive = kGpuColumns, kUtilization };

constexpr Setting kSettings[] = {
    {"active", "0.05", "Part of the time in which its SMs have work, below which it is idle.", is_share},
};

class GpuIdleInJob : public Watch {
 public:
  explicit GpuIdleInJob(const Settings& s) : active_(number_of(s, "active")) {}

  // What the SMs do says more than that some kernel runs, where the GPU tells it.
  void see(const Sample& sample, const HostFacts&, std::vector<Sign>& signs) override {
    const bool is_activity = sample.table.name() == "gpu_activity";
    if (is_activity) last_activity_ = sample.at;
    if (!is_activity && last_activity_ != 0 && sample.at - last_activity_ < kMinute) return;
    Columns& columns = is_activity ? activity_columns_ : columns_;
    columns.find(sample.table);
    for (size_t row = 0; row < sample.table.rows(); ++row) {
      const auto active = columns.real(row, is_activity ? kActive : kUtilization);
      if (!active || columns.text(row, kGpuJob).empty()) continue;
      Sign& sign = signs.emplace_back(gpu_condition(columns, row), *active < active_);
      sign.condition.unit = "ratio";
      sign.condition.value = *active;
      sign.condition.baseline = active_;
    }
  }

 private:
  double active_;
  Ns last_activity_ = 0;
  Columns columns_{kNames}, activity_columns_{kNames};
};

}  // namespace

const Rule kGpuIdleInJob = {
    .name = "gpu_idle_in_job",
    .family = "gpu",
    .urgency = Urgency::warning,
    .meaning = "A job holds a GPU whose SMs have had work in less than 5 % of the time for 5 minutes.",
    .remedy = "look at what the rank waits for, or give the GPU back",
    .rank_as_cause = 0,
    .hold = "5m",
    .recover = "2m",
    .tables = kTables,
    .settings = kSettings,
    .make = [](const Settings& s) -> std::unique_ptr<Watch> { return std::make_unique<GpuIdleInJob>(s); },
};

}  // namespace spotter::respond
