// gpu_shared: a process that is not of a job works on a GPU that a rank of the job has: it takes time from
// the rank, and no trace of the job shows it.
#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "respond/rules/gpu_rows.h"
#include "respond/rules/list.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"gpu_process"};
constexpr const char* kNames[] = {SPOTTER_GPU_NAMES, "instance", "pid", "sm_utilization_ratio"};
enum : size_t { kInstance = kGpuColumns, kPid, kBusy };

constexpr Setting kSettings[] = {
    {"window", "10s", "Of the samples that are looked at.", is_duration},
    {"share", "0.5", "Of them in which another process works.", is_share},
    {"least", "0.1", "Of the GPU's time that it takes then.", is_share},
};

class GpuShared : public Watch {
 public:
  explicit GpuShared(const Settings& s)
      : window_(duration_of(s, "window")), share_(number_of(s, "share")), least_(number_of(s, "least")) {}

  void see(const Sample& sample, const HostFacts&, std::vector<Sign>& signs) override {
    columns_.find(sample.table);
    for (size_t row = 0; row < sample.table.rows(); ++row) {
      if (columns_.text(row, kGpuJob).empty() || !columns_.integer(row, kGpuRank)) continue;
      const std::optional<Others> others = others_of(sample.table.rows(), row);
      if (!others) continue;  // the driver says nothing of processes
      Sign& sign = signs.emplace_back(gpu_condition(columns_, row), is_wrong(row, sample.at, *others));
      sign.condition.unit = "ratio";
      sign.condition.value = others->busy;
      sign.condition.text = others->most_busy;
    }
    std::erase_if(ranks_, [&](const auto& rank) { return sample.at - rank.second.back().first > window_; });
  }

 private:
  struct Others {
    double busy = 0;             // of all of them
    std::string most_busy = {};  // "process 615 of bob"
  };

  std::optional<Others> others_of(size_t rows, size_t own) const {
    Others others;
    double most = 0;
    bool is_known = false;
    for (size_t row = 0; row < rows; ++row) {
      const bool is_here = columns_.integer(row, kGpu) == columns_.integer(own, kGpu) &&
                           columns_.integer(row, kInstance) == columns_.integer(own, kInstance);
      const auto busy = columns_.real(row, kBusy);
      if (!is_here || !busy) continue;
      is_known = true;
      if (columns_.text(row, kGpuJob) == columns_.text(own, kGpuJob)) continue;
      others.busy = std::min(1.0, others.busy + *busy);
      if (*busy <= most) continue;
      most = *busy;
      const std::string_view user = columns_.text(row, kGpuUser);
      others.most_busy = fmt::format("process {}{}{}", columns_.integer(row, kPid).value_or(0),
                                     user.empty() ? "" : " of ", user);
    }
    return is_known ? std::optional(std::move(others)) : std::nullopt;
  }

  bool is_wrong(size_t row, Ns at, const Others& others) {
    auto& samples = ranks_[{columns_.integer(row, kGpu).value_or(-1),
                            std::string(columns_.text(row, kGpuJob)), *columns_.integer(row, kGpuRank)}];
    // A rank may have several processes.
    if (samples.empty() || samples.back().first != at) samples.emplace_back(at, others.busy >= least_);
    while (at - samples.front().first > window_) samples.pop_front();
    // A window that is not full says nothing yet; of its ends one sample may be missing.
    if (at - samples.front().first < window_ - window_ / 10) return false;
    const auto busy = std::ranges::count_if(samples, [](const auto& s) { return s.second; });
    return busy > 0 && static_cast<double>(busy) >= share_ * static_cast<double>(samples.size());
  }

  Ns window_;
  double share_, least_;
  Columns columns_{kNames};
  std::map<std::tuple<i64, std::string, i64>, std::deque<std::pair<Ns, bool>>> ranks_;
};

}  // namespace

const Rule kGpuShared = {
    .name = "gpu_shared",
    .family = "gpu",
    .urgency = Urgency::info,
    .meaning =
        "A process that is not of the job works on a GPU that a rank of it has, in half of 10 s and more for "
        "10 % of the GPU's time or more.",
    .remedy =
        "end the other process, or give each its own GPU (CUDA_VISIBLE_DEVICES, the scheduler's devices); where "
        "GPUs are shared on purpose, switch the rule off",
    .rank_as_cause = 2,
    .hold = "0s",
    .recover = "60s",
    .tables = kTables,
    .settings = kSettings,
    .make = [](const Settings& s) -> std::unique_ptr<Watch> { return std::make_unique<GpuShared>(s); },
};

}  // namespace spotter::respond
