// rdma_congestion: a port of RDMA sends again, or is told of congestion, far more than the others of this
// host (peers.h).
#include <functional>
#include <map>

#include "respond/rules/columns.h"
#include "respond/rules/list.h"
#include "respond/statistics/peers.h"

namespace spotter::respond {
namespace {

constexpr const char* kTables[] = {"rdma"};
constexpr const char* kNames[] = {"device",          "port",        "retrans_packets", "roce_adp_retrans",
                                  "out_of_sequence", "np_cnp_sent", "rp_cnp_handled"};
enum : size_t { kDevice, kPort, kFirstCounter };

constexpr Setting kSettings[] = {
    {"window", "5s", "Whose rates are compared.", is_duration},
    {"rate", "100", "A second, below which it is not told.", is_positive},
};

class RdmaCongestion : public Watch {
 public:
  explicit RdmaCongestion(const Settings& s)
      : window_(std::max<Ns>(duration_of(s, "window"), kSecond)),
        rate_(number_of(s, "rate")),
        peers_(options(rate_)) {}

  void see(const Sample& sample, const HostFacts& facts, std::vector<Sign>& signs) override {
    if (sample.at - last_ < window_) return;
    const double seconds = static_cast<double>(sample.at - last_) / static_cast<double>(kSecond);
    last_ = sample.at;
    columns_.find(sample.table);
    std::vector<PeerValue> values;
    std::vector<std::string> names;
    std::map<std::string, i64> now;
    for (size_t row = 0; row < sample.table.rows(); ++row) {
      i64 count = 0;
      for (size_t counter = kFirstCounter; counter < std::size(kNames); ++counter)
        count += columns_.integer(row, counter).value_or(0);
      std::string name =
          fmt::format("{} port {}", columns_.text(row, kDevice), columns_.integer(row, kPort).value_or(0));
      now[name] = count;
      const auto before = counts_.find(name);
      if (before == counts_.end() || count < before->second) continue;
      values.push_back({.member = std::hash<std::string>()(name),
                        .value = static_cast<double>(count - before->second) / seconds});
      names.push_back(std::move(name));
    }
    counts_ = std::move(now);
    for (const PeerEvent& event : peers_.add(sample.at, values)) {
      if (event.kind == PeerEvent::Kind::began)
        outliers_[event.member] = event;
      else
        outliers_.erase(event.member);
    }
    for (size_t i = 0; i < values.size(); ++i) {
      const auto outlier = outliers_.find(values[i].member);
      Sign& sign =
          signs.emplace_back(Condition(), outlier != outliers_.end() && outlier->second.value >= rate_);
      sign.is_of_host = true;
      sign.condition.job = facts.only_job();
      sign.condition.user = facts.user_of(sign.condition.job);
      sign.condition.device = names[i];
      sign.condition.source = "rdma";
      sign.condition.unit = "per_s";
      sign.condition.value = values[i].value;
      if (outlier == outliers_.end()) continue;
      sign.condition.baseline = outlier->second.median;
      sign.condition.spreads = outlier->second.r;
    }
  }

 private:
  static PeerOptions options(double rate) {
    PeerOptions options;
    options.floor = rate / options.spreads;  // where all others have none
    return options;
  }

  Ns window_;
  double rate_;
  Ns last_ = 0;
  Peers peers_;
  Columns columns_{kNames};
  std::map<std::string, i64> counts_;
  std::map<u64, PeerEvent> outliers_;
};

}  // namespace

const Rule kRdmaCongestion = {
    .name = "rdma_congestion",
    .family = "network",
    .urgency = Urgency::info,
    .meaning =
        "A port of RDMA sends again or is told of congestion 100 times a second and more, and far more "
        "often than the others of this host; of four ports and more.",
    .remedy = "look at what shares the links, and at the flow control of the fabric",
    .rank_as_cause = 6,
    .hold = "0s",
    .recover = "0s",
    .tables = kTables,
    .settings = kSettings,
    .make = [](const Settings& s) -> std::unique_ptr<Watch> { return std::make_unique<RdmaCongestion>(s); },
};

}  // namespace spotter::respond
