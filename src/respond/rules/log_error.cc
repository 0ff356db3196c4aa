// log_error: a job's log has a line that tells why it ends, or that it trains no more (fatal_lines.h). What
// follows an end of PyTorch's patience with a collective is its echo; that itself is collective_stuck's.
#include <algorithm>
#include <map>

#include "respond/logs/fatal_lines.h"
#include "respond/rules/list.h"
#include "respond/rules/log_rows.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"log_event"};
constexpr std::string_view kEchoes[] = {"nccl_error", "worker_failed", "traceback", "crash"};
constexpr Ns kEcho = 2 * kMinute;

// Others are unusual, and no more.
bool is_fatal(const std::string& kind) {
  return std::ranges::any_of(fatal_kinds(), [&](const FatalKind& fatal) { return kind == fatal.name; });
}

class LogError : public Watch {
 public:
  void see(const Sample& sample, const HostFacts&, std::vector<Sign>& signs) override {
    std::erase_if(timeouts_, [&](const auto& timeout) { return sample.at - timeout.second > kEcho; });
    rows_.each(sample, [&](const LogRow& row) {
      const bool has_room = timeouts_.size() < kMostWatched || timeouts_.contains(row.job);
      if (row.kind == kCollectiveTimeout && has_room) timeouts_[row.job] = sample.at;
    });
    rows_.each(sample, [&](const LogRow& row) {
      if (!is_fatal(row.kind) || row.kind == kCollectiveTimeout) return;
      if (timeouts_.contains(row.job) && std::ranges::find(kEchoes, row.kind) != std::end(kEchoes)) return;
      Sign& sign = signs.emplace_back(condition_of(row), true);
      sign.condition.device = row.kind;
    });
  }

 private:
  LogRows rows_;
  std::map<std::string, Ns> timeouts_;  // by job
};

}  // namespace

const Rule kLogError = {
    .name = "log_error",
    .family = "log",
    .urgency = Urgency::critical,
    .meaning =
        "A log of the job has a line that tells why it ends, or that it trains no more. It is over an hour "
        "after the last one: nothing shows that a job has got over it.",
    .remedy = "read the log around that line",
    .rank_as_cause = 7,
    .hold = "0s",
    .recover = "1h",
    .tables = kTables,
    .settings = {},
    .make = [](const Settings&) -> std::unique_ptr<Watch> { return std::make_unique<LogError>(); },
};

}  // namespace spotter::respond
