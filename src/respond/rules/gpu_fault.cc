// gpu_fault: a GPU does not work any more, or not reliably, until somebody does something about it.
#include <algorithm>

#include "base/text/quantity.h"
#include "respond/rules/gpu_rows.h"
#include "respond/rules/list.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"gpu_event"};
constexpr const char* kNames[] = {SPOTTER_GPU_NAMES, "event", "xid", "meaning"};
enum : size_t { kEvent = kGpuColumns, kXid, kMeaning };

Result<void> are_numbers(const std::string& words) {
  for (const std::string& word : split_commas(words)) {
    if (!whole_number(word)) return fail(Code::invalid, "\"{}\" is not the number of an XID", word);
  }
  return {};
}

constexpr Setting kSettings[] = {
    {"xids", "48,64,74,79,94,95,119", "The XID errors of the driver that are faults, with commas between.",
     are_numbers},
};

class GpuFault : public Watch {
 public:
  explicit GpuFault(const Settings& settings) {
    for (const std::string& word : split_commas(settings.at("xids"))) xids_.push_back(*whole_number(word));
  }

  void see(const Sample& sample, const HostFacts&, std::vector<Sign>& signs) override {
    columns_.find(sample.table);
    for (size_t row = 0; row < sample.table.rows(); ++row) see_event(row, signs);
  }

 private:
  void see_event(size_t row, std::vector<Sign>& signs) const {
    const std::string_view event = columns_.text(row, kEvent);
    const auto xid = columns_.integer(row, kXid);
    const bool is_xid = xid && std::ranges::find(xids_, *xid) != xids_.end();
    if (!is_xid && event != "lost" && event != "ecc_uncorrected") return;
    Sign& sign = signs.emplace_back(gpu_condition(columns_, row), true);
    sign.condition.text = is_xid ? fmt::format("XID {}: {}", *xid, columns_.text(row, kMeaning))
                                 : std::string(columns_.text(row, kMeaning));
    if (!is_xid) return;
    sign.condition.unit = "xid";
    sign.condition.value = static_cast<double>(*xid);
  }

  std::vector<i64> xids_;
  Columns columns_{kNames};
};

}  // namespace

const Rule kGpuFault = {
    .name = "gpu_fault",
    .family = "gpu",
    .urgency = Urgency::critical,
    .meaning =
        "A GPU is lost, or reports an XID error of the list or memory errors that cannot be corrected.",
    .remedy = "drain the host, and reset or replace the GPU",
    .rank_as_cause = 1,
    .hold = "0s",
    .recover = kByHand,
    .tables = kTables,
    .settings = kSettings,
    .make = [](const Settings& s) -> std::unique_ptr<Watch> { return std::make_unique<GpuFault>(s); },
};

}  // namespace spotter::respond
