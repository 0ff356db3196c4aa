// link_errors: a link of InfiniBand, RoCE or NVLink makes errors.
#include <algorithm>

#include "respond/rules/gpu_rows.h"
#include "respond/rules/growth.h"
#include "respond/rules/list.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"rdma", "gpu"};
constexpr const char* kGpuNames[] = {SPOTTER_GPU_NAMES, "nvlink_crc_errors"};
constexpr const char* kPortNames[] = {"device", "port", "symbol_errors", "link_error_recovery",
                                      "link_downed"};
enum : size_t { kDevice, kPort, kSymbols, kRecovery, kDowned };

constexpr Setting kSettings[] = {
    {"window", "10m", "In which errors are counted.", is_duration},
    {"symbols", "10", "Symbol errors of a port in it that are told when there are more.", is_positive},
    {"crc", "100", "CRC errors of a GPU's NVLink in it that are told when there are more.", is_positive},
};

class LinkErrors : public Watch {
 public:
  explicit LinkErrors(const Settings& s)
      : symbols_(number_of(s, "symbols")), crc_(number_of(s, "crc")), growth_(duration_of(s, "window")) {}

  void see(const Sample& sample, const HostFacts& facts, std::vector<Sign>& signs) override {
    const bool are_ports = sample.table.name() == "rdma";
    Columns& columns = are_ports ? ports_ : gpus_;
    columns.find(sample.table);
    for (size_t row = 0; row < sample.table.rows(); ++row) {
      if (are_ports)
        see_port(row, sample.at, facts, signs);
      else
        see_gpu(row, sample.at, signs);
    }
    growth_.forget(sample.at);
  }

 private:
  void see_port(size_t row, Ns at, const HostFacts& facts, std::vector<Sign>& signs) {
    const std::string port =
        fmt::format("{} port {}", ports_.text(row, kDevice), ports_.integer(row, kPort).value_or(0));
    // What was before a job is not that job's.
    const std::string job = facts.only_job();
    const auto grown = [&](size_t column) {
      const auto count = ports_.integer(row, column);
      return count ? growth_.add(fmt::format("{} {} {}", port, kPortNames[column], job), at, *count) : 0;
    };
    const i64 symbols = grown(kSymbols), recoveries = grown(kRecovery), downed = grown(kDowned);
    const bool is_down = recoveries > 0 || downed > 0;
    Sign& sign = signs.emplace_back(Condition(), is_down || static_cast<double>(symbols) > symbols_);
    sign.is_of_host = true;
    sign.condition.job = job;
    sign.condition.user = facts.user_of(sign.condition.job);
    sign.condition.device = port;
    sign.condition.source = "rdma";
    sign.condition.unit = "count";
    sign.condition.value = static_cast<double>(downed > 0 ? downed : is_down ? recoveries : symbols);
    sign.condition.baseline = 0;
    sign.condition.text = downed > 0 ? "the link went down"
                          : is_down  ? "the link was trained anew"
                                     : "symbol errors";
  }

  void see_gpu(size_t row, Ns at, std::vector<Sign>& signs) {
    const auto count = gpus_.integer(row, kGpuColumns);
    if (!count) return;
    Condition condition = gpu_condition(gpus_, row);
    const i64 grown = growth_.add(condition.device + " " + condition.job, at, *count);
    condition.unit = "count";
    condition.value = static_cast<double>(grown);
    condition.baseline = 0;
    condition.text = "wrong checksums on NVLink";
    signs.emplace_back(std::move(condition), static_cast<double>(grown) > crc_);
  }

  double symbols_, crc_;
  Growth growth_;
  Columns ports_{kPortNames}, gpus_{kGpuNames};
};

}  // namespace

const Rule kLinkErrors = {
    .name = "link_errors",
    .family = "network",
    .urgency = Urgency::warning,
    .meaning =
        "An InfiniBand or RoCE link went down, was trained anew or had more than 10 symbol errors in 10 "
        "minutes, or the NVLink of a GPU more than 100 wrong checksums.",
    .remedy = "look at the cable and its plugs; drain the host if errors go on",
    .rank_as_cause = 3,
    .hold = "0s",
    .recover = "15m",
    .tables = kTables,
    .settings = kSettings,
    .make = [](const Settings& s) -> std::unique_ptr<Watch> { return std::make_unique<LinkErrors>(s); },
};

}  // namespace spotter::respond
