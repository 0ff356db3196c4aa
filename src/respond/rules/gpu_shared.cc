// gpu_shared: a process that is not of a job works on a GPU that a rank of the job has: it takes time from
// the rank, and no trace of the job shows it.
#include <algorithm>
#include <map>
#include <tuple>

#include "respond/rules/gpu_rows.h"
#include "respond/rules/held_for.h"
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
      : least_(number_of(s, "least")), held_(duration_of(s, "window"), number_of(s, "share")) {}

  void see(const Sample& sample, const HostFacts&, std::vector<Sign>& signs) override {
    columns_.find(sample.table);
    const std::map<Place, Jobs> all = work_by_place(sample.table.rows());
    for (size_t row = 0; row < sample.table.rows(); ++row) {
      const std::string_view job = columns_.text(row, kGpuJob);
      const auto rank = columns_.integer(row, kGpuRank);
      const auto there = all.find(place_of(row));
      // Of some GPUs the driver says nothing of processes.
      if (job.empty() || !rank || there == all.end()) continue;
      const Work others = work_beside(job, there->second);
      const Key key = {there->first.first, std::string(job), *rank};
      const bool is_shared = others.busy >= least_;
      Sign& sign = signs.emplace_back(gpu_condition(columns_, row), held_.add(key, sample.at, is_shared));
      // What it is when somebody else works there: half of the time nobody may.
      if (is_shared && others.busiest)
        last_[key] = {.busy = std::min(1.0, others.busy), .process = process_at(*others.busiest)};
      const auto last = last_.find(key);
      sign.condition.unit = "ratio";
      sign.condition.value = last == last_.end() ? std::min(1.0, others.busy) : last->second.busy;
      if (last != last_.end()) sign.condition.text = last->second.process;
    }
    held_.forget(sample.at);
    if (last_.size() > kMostWatched) last_.clear();
  }

 private:
  using Key = std::tuple<i64, std::string, i64>;  // GPU, job, rank
  using Place = std::pair<i64, i64>;              // a GPU, and an instance of it
  struct Shared {
    double busy = 0;
    std::string process = {};
  };
  struct Work {
    double busy = 0, most = 0;           // of all, of one process
    std::optional<size_t> busiest = {};  // its row
    void add(double all, double one, size_t row) {
      busy += all;
      if (one <= most) return;
      most = one;
      busiest = row;
    }
  };
  using Jobs = std::map<std::string_view, Work>;  // "": of no job

  Place place_of(size_t row) const {
    return {columns_.integer(row, kGpu).value_or(-1), columns_.integer(row, kInstance).value_or(-1)};
  }

  // As far as it is known of processes.
  std::map<Place, Jobs> work_by_place(size_t rows) const {
    std::map<Place, Jobs> all;
    for (size_t row = 0; row < rows; ++row)
      if (const auto busy = columns_.real(row, kBusy))
        all[place_of(row)][columns_.text(row, kGpuJob)].add(*busy, *busy, row);
    return all;
  }

  static Work work_beside(std::string_view own, const Jobs& jobs) {
    Work others;
    for (const auto& [job, work] : jobs)
      if (job != own && work.busiest) others.add(work.busy, work.most, *work.busiest);
    return others;
  }

  // "process 615 of bob"
  std::string process_at(size_t row) const {
    const std::string_view user = columns_.text(row, kGpuUser);
    return fmt::format("process {}{}{}", columns_.integer(row, kPid).value_or(0), user.empty() ? "" : " of ",
                       user);
  }

  double least_;
  Columns columns_{kNames};
  HeldFor<Key> held_;
  std::map<Key, Shared> last_;  // when somebody else worked there last
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
