// gpu_fault: a GPU does not work any more, or not reliably, until somebody does something about it.
#include <algorithm>

#include "base/text/quantity.h"
#include "respond/rules/gpu_rows.h"
#include "respond/rules/list.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"gpu", "gpu_event"};
constexpr const char* kNames[] = {SPOTTER_GPU_NAMES, "remap_failed", "remap_pending",
                                  "event",           "xid",          "meaning"};
enum : size_t { kRemapFailed = kGpuColumns, kRemapPending, kEvent, kXid, kMeaning };

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
    const bool are_events = sample.table.name() == "gpu_event";
    Columns& columns = are_events ? event_columns_ : columns_;
    columns.find(sample.table);
    for (size_t row = 0; row < sample.table.rows(); ++row) {
      if (are_events)
        see_event(columns, row, signs);
      else
        see_gpu(columns, row, signs);
    }
  }

 private:
  void see_event(const Columns& columns, size_t row, std::vector<Sign>& signs) const {
    const std::string_view event = columns.text(row, kEvent);
    const auto xid = columns.integer(row, kXid);
    const bool is_xid = xid && std::ranges::find(xids_, *xid) != xids_.end();
    if (!is_xid && event != "lost" && event != "ecc_uncorrected") return;
    Sign& sign = signs.emplace_back(gpu_condition(columns, row), true);
    sign.condition.text = is_xid ? fmt::format("XID {}: {}", *xid, columns.text(row, kMeaning))
                                 : std::string(columns.text(row, kMeaning));
    if (!is_xid) return;
    sign.condition.unit = "xid";
    sign.condition.value = static_cast<double>(*xid);
  }

  static void see_gpu(const Columns& columns, size_t row, std::vector<Sign>& signs) {
    const bool has_failed = columns.flag(row, kRemapFailed).value_or(false);
    if (!has_failed && !columns.flag(row, kRemapPending).value_or(false)) return;
    Sign& sign = signs.emplace_back(gpu_condition(columns, row), true);
    // It lasts, and is not to hide what happens.
    sign.condition.device += " memory rows";
    if (!has_failed) sign.urgency = Urgency::warning;
    sign.condition.text = has_failed ? "a memory row could not be replaced: the GPU has to go"
                                     : "a memory row is replaced at the next reset";
  }

  std::vector<i64> xids_;
  Columns columns_{kNames}, event_columns_{kNames};
};

}  // namespace

const Rule kGpuFault = {
    .name = "gpu_fault",
    .family = "gpu",
    .urgency = Urgency::critical,
    .meaning =
        "A GPU is lost, reports an XID error of the list or memory errors that cannot be corrected, or "
        "could not replace a row of its memory; that one is to be replaced is a warning.",
    .remedy = "drain the host, and reset or replace the GPU",
    .rank_as_cause = 1,
    .hold = "0s",
    .recover = kByHand,
    .tables = kTables,
    .settings = kSettings,
    .make = [](const Settings& s) -> std::unique_ptr<Watch> { return std::make_unique<GpuFault>(s); },
};

}  // namespace spotter::respond
