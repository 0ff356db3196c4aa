// gpu_throttled: the hardware holds a GPU's clocks down, for heat or for want of power. That the power limit
// does so is everyday work: it is told where the clock differs from the others' (rank_outlier).
#include <map>
#include <optional>

#include "respond/rules/gpu_rows.h"
#include "respond/rules/held_for.h"
#include "respond/rules/list.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"gpu"};
constexpr const char* kNames[] = {SPOTTER_GPU_NAMES,     "throttle_hw_slowdown", "throttle_thermal_hw",
                                  "throttle_thermal_sw", "throttle_power_brake", "sm_clock_hertz",
                                  "sm_clock_max_hertz"};
enum : size_t { kFirstReason = kGpuColumns, kEndOfReasons = kFirstReason + 4, kClock = kEndOfReasons, kMost };

constexpr Setting kSettings[] = {
    {"window", "30s", "Of the samples that are looked at.", is_duration},
    {"share", "0.5", "Of them in which the clocks are held down.", is_share},
};

class GpuThrottled : public Watch {
 public:
  explicit GpuThrottled(const Settings& s) : held_(duration_of(s, "window"), number_of(s, "share")) {}

  void see(const Sample& sample, const HostFacts&, std::vector<Sign>& signs) override {
    columns_.find(sample.table);
    for (size_t row = 0; row < sample.table.rows(); ++row) {
      bool is_known = false, is_held = false;
      for (size_t reason = kFirstReason; reason < kEndOfReasons; ++reason) {
        const auto flag = columns_.flag(row, reason);
        is_known = is_known || flag.has_value();
        is_held = is_held || flag.value_or(false);
      }
      if (!is_known) continue;
      const i64 gpu = columns_.integer(row, kGpu).value_or(-1);
      Sign& sign = signs.emplace_back(gpu_condition(columns_, row), held_.add(gpu, sample.at, is_held));
      // What it is when it is held down: half of the time it may be as it should.
      if (is_held) clocks_[gpu] = columns_.real(row, kClock);
      const auto clock = clocks_.find(gpu);
      sign.condition.unit = "Hz";
      sign.condition.value = clock == clocks_.end() ? columns_.real(row, kClock) : clock->second;
      sign.condition.baseline = columns_.real(row, kMost);
    }
    held_.forget(sample.at);
  }

 private:
  Columns columns_{kNames};
  HeldFor<i64> held_;
  std::map<i64, std::optional<double>> clocks_;  // by GPU: when it was held down last
};

}  // namespace

const Rule kGpuThrottled = {
    .name = "gpu_throttled",
    .family = "gpu",
    .urgency = Urgency::warning,
    .meaning =
        "The hardware or the driver holds a GPU's clocks down because of heat or the power supply, for "
        "half of 30 s and more.",
    .remedy = "look at the cooling and the power supply of the host; drain it if that cannot be mended",
    .rank_as_cause = 3,
    .hold = "0s",
    .recover = "60s",
    .tables = kTables,
    .settings = kSettings,
    .make = [](const Settings& s) -> std::unique_ptr<Watch> { return std::make_unique<GpuThrottled>(s); },
};

}  // namespace spotter::respond
