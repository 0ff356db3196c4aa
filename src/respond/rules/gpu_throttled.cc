// gpu_throttled: the hardware holds a GPU's clocks down, for heat or for want of power. That the power limit
// does so is everyday work: it is told where the clock differs from the others' (rank_outlier).
#include <algorithm>
#include <deque>
#include <map>

#include "respond/rules/gpu_rows.h"
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
  explicit GpuThrottled(const Settings& s)
      : window_(duration_of(s, "window")), share_(number_of(s, "share")) {}

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
      Sign& sign = signs.emplace_back(gpu_condition(columns_, row), is_wrong(row, sample.at, is_held));
      sign.condition.unit = "Hz";
      sign.condition.value = columns_.real(row, kClock);
      sign.condition.baseline = columns_.real(row, kMost);
    }
    std::erase_if(gpus_, [&](const auto& gpu) { return sample.at - gpu.second.back().first > window_; });
  }

 private:
  bool is_wrong(size_t row, Ns at, bool is_held) {
    auto& samples = gpus_[columns_.integer(row, kGpu).value_or(-1)];
    samples.emplace_back(at, is_held);
    while (at - samples.front().first > window_) samples.pop_front();
    // A window that is not full says nothing yet; of its ends one sample may be missing.
    if (at - samples.front().first < window_ - window_ / 10) return false;
    const auto held = std::ranges::count_if(samples, [](const auto& s) { return s.second; });
    return static_cast<double>(held) >= share_ * static_cast<double>(samples.size()) && held > 0;
  }

  Ns window_;
  double share_;
  Columns columns_{kNames};
  std::map<i64, std::deque<std::pair<Ns, bool>>> gpus_;
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
