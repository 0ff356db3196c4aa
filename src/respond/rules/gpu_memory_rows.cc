// gpu_memory_rows: a row of a GPU's memory is to be replaced, or could not be.
#include "respond/rules/gpu_rows.h"
#include "respond/rules/list.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"gpu"};
constexpr const char* kNames[] = {SPOTTER_GPU_NAMES, "remap_failed", "remap_pending"};
enum : size_t { kRemapFailed = kGpuColumns, kRemapPending };

class GpuMemoryRows : public Watch {
 public:
  void see(const Sample& sample, const HostFacts&, std::vector<Sign>& signs) override {
    columns_.find(sample.table);
    for (size_t row = 0; row < sample.table.rows(); ++row) {
      const auto failed = columns_.flag(row, kRemapFailed), pending = columns_.flag(row, kRemapPending);
      if (!failed && !pending) continue;
      const bool has_failed = failed.value_or(false);
      Sign& sign = signs.emplace_back(gpu_condition(columns_, row), has_failed || pending.value_or(false));
      // The driver says so for weeks, whoever has the GPU meanwhile: it is the host's, and one.
      sign.condition.job.clear();
      sign.condition.user.clear();
      sign.condition.rank.reset();
      if (!has_failed) sign.urgency = Urgency::warning;
      sign.condition.text =
          has_failed ? "a memory row cannot be replaced" : "a memory row waits for a reset to be replaced";
    }
  }

 private:
  Columns columns_{kNames};
};

}  // namespace

const Rule kGpuMemoryRows = {
    .name = "gpu_memory_rows",
    .family = "gpu",
    .urgency = Urgency::critical,
    .meaning =
        "A row of a GPU's memory could not be replaced; that one is to be replaced at the next reset is a "
        "warning.",
    .remedy = "drain the host, and reset or replace the GPU",
    .rank_as_cause = 8,
    .hold = "0s",
    .recover = "1m",
    .tables = kTables,
    .settings = {},
    .make = [](const Settings&) -> std::unique_ptr<Watch> { return std::make_unique<GpuMemoryRows>(); },
};

}  // namespace spotter::respond
