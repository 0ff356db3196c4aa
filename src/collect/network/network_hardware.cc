// network_hardware: what the network cards themselves count: pauses, drops, errors of the link, from their
// drivers (ethtool.h). Only cards that are devices of the machine, not the interfaces that software makes.
#include <unistd.h>

#include <algorithm>

#include "base/system/file.h"
#include "collect/facts.h"
#include "collect/list.h"
#include "collect/network/ethtool.h"
#include "collect/network/nic_counters.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr TableKind kTables[] = {
    {"network_hardware", "ethtool", "A network card whose driver keeps counters of its own.", kNicColumns}};

constexpr Ns kListAgain = 10 * kSecond;  // cards come and go with their drivers

// Whether the interfaces that ioctl() reaches are those of the host.
bool is_own_network(const Host& host) {
  if (host.root == "/") return true;
  const std::string own = read_link_name("/proc/self/ns/net");
  return !own.empty() && own == read_link_name(host.proc + "/1/ns/net");
}

class NetworkHardware : public Collector {
 public:
  static Result<std::unique_ptr<Collector>> open(const Surroundings& s) {
    if (!is_own_network(s.host))
      return fail(Code::not_found,
                  "network cards can be asked from within the machine's network namespace only");
    TRY_ASSIGN(Ethtool ethtool, Ethtool::open());
    auto hardware = std::make_unique<NetworkHardware>(s.host, std::move(ethtool));
    TRY_ASSIGN(const std::vector<Table> tables, hardware->sample());
    return hardware;
  }

  NetworkHardware(const Host& host, Ethtool ethtool)
      : now_(host.steady_now), class_(host.sys + "/class/net"), ethtool_(std::move(ethtool)) {}

  Result<std::vector<Table>> sample() override {
    std::vector<Table> tables;
    Table& table = tables.emplace_back("network_hardware", kNicColumns);
    known_.begin_round(now_());
    if (listed_ == 0 || now_() - listed_ >= kListAgain) list();
    for (const std::string& interface : interfaces_) {
      Card& card = known_.at(interface, [&](std::string_view) { return read_card(interface); });
      auto values = ask(interface, card);
      if (!values && values.error().code == Code::invalid) {
        card = read_card(interface);
        values = ask(interface, card);
      }
      if (!values || card.counters.empty()) continue;
      std::vector<Value> row{std::string_view(interface), or_null(std::string_view(card.driver))};
      card.counters.append_to(row, *values);
      table.append(row);
    }
    known_.end_round();
    if (table.rows() == 0)
      return fail(Code::not_found, "no network card here has a driver that keeps known counters of its own");
    return tables;
  }

 private:
  struct Card {
    std::string driver;
    NicCounters counters;
  };

  void list() {
    listed_ = now_();
    interfaces_ = names_in(class_);
    std::erase_if(interfaces_, [&](const std::string& interface) {
      return access(fmt::format("{}/{}/device", class_, interface).c_str(), F_OK) != 0;
    });
    std::ranges::sort(interfaces_);
  }

  Card read_card(const std::string& interface) {
    return {read_link_name(fmt::format("{}/{}/device/driver", class_, interface)),
            NicCounters(ethtool_.names(interface).value_or(std::vector<std::string>()))};
  }

  Result<std::vector<u64>> ask(const std::string& interface, const Card& card) {
    if (card.counters.empty()) return std::vector<u64>();
    return ethtool_.values(interface, card.counters.names());
  }

  Ns (*now_)();
  std::string class_;
  Ethtool ethtool_;
  Ns listed_ = 0;
  std::vector<std::string> interfaces_;
  Known<Card> known_;
};

}  // namespace

const CollectorKind kNetworkHardware = {
    .name = "network_hardware",
    .help = "What the network cards count: pauses, drops, errors of the link.",
    .period = 10 * kSecond,
    .may_block = true,
    .tables = kTables,
    .open = NetworkHardware::open,
};

}  // namespace spotter::collect
