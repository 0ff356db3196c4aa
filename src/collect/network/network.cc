// network: what went through the network interfaces. /proc/net/dev, /sys/class/net,
// Documentation/ABI/testing/sysfs-class-net.
#include <algorithm>
#include <array>

#include "base/text/words.h"
#include "collect/facts.h"
#include "collect/kernel_file.h"
#include "collect/list.h"
#include "collect/process/namespaces.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

// Beginnings of the names of interfaces that containers, virtual machines and tunnels make. Their number has
// no bound, and what goes through them goes through another interface, too.
constexpr std::string_view kLeftOut[] = {
    "veth",    "docker", "br-",   "virbr",   "vnet",   "tap",          "cali",   "cilium",
    "lxc",     "lxd",    "cni",   "flannel", "kube-",  "nodelocaldns", "vxlan",  "geneve",
    "genev_",  "tunl",   "sit",   "gre",     "erspan", "ip6tnl",       "ip6gre", "ip_vti",
    "ip6_vti", "ifb",    "dummy", "podman",  "fwbr",   "fwpr",         "fwln",   "nerdctl"};

constexpr i64 kBytesPerMegabit = 125'000;

constexpr Field kColumns[] = {
    {"interface", Type::text, Unit::none, Role::key, "Network interface."},
    {"type", Type::text, Unit::none, Role::detail,
     "ethernet, infiniband or loopback; others by their number."},
    {"driver", Type::text, Unit::none, Role::detail, "The kernel's driver."},
    {"up", Type::flag, Unit::none, Role::value, "Whether it works; null where its driver does not say."},
    {"speed_bytes_per_s", Type::integer, Unit::bytes_per_s, Role::value, "What its link can carry each way."},
    {"mtu_bytes", Type::integer, Unit::bytes, Role::value, "Largest packet."},
    {"carrier_changes", Type::integer, Unit::count, Role::counter,
     "Times that the link came up or went down."},
    {"rx_bytes", Type::integer, Unit::bytes, Role::counter, "Received."},
    {"rx_packets", Type::integer, Unit::count, Role::counter, "Packets received."},
    {"rx_errors", Type::integer, Unit::count, Role::counter, "Packets received with errors."},
    {"rx_drops", Type::integer, Unit::count, Role::counter,
     "Packets received and dropped: for want of room, or since nothing here takes their kind."},
    {"rx_fifo_errors", Type::integer, Unit::count, Role::counter, "Overruns of the receiving queue."},
    {"rx_frame_errors", Type::integer, Unit::count, Role::counter,
     "Frames received with errors of the link."},
    {"rx_compressed", Type::integer, Unit::count, Role::counter, "Compressed packets received."},
    {"rx_multicast", Type::integer, Unit::count, Role::counter, "Multicast packets received."},
    {"tx_bytes", Type::integer, Unit::bytes, Role::counter, "Sent."},
    {"tx_packets", Type::integer, Unit::count, Role::counter, "Packets sent."},
    {"tx_errors", Type::integer, Unit::count, Role::counter, "Packets not sent for errors."},
    {"tx_drops", Type::integer, Unit::count, Role::counter, "Packets not sent for want of room."},
    {"tx_fifo_errors", Type::integer, Unit::count, Role::counter, "Underruns of the sending queue."},
    {"tx_collisions", Type::integer, Unit::count, Role::counter, "Collisions."},
    {"tx_carrier_errors", Type::integer, Unit::count, Role::counter, "Packets lost with the link."},
    {"tx_compressed", Type::integer, Unit::count, Role::counter, "Compressed packets sent."},
};
constexpr TableKind kTables[] = {
    {"network", "/proc/net/dev", "A network interface; without those of containers and tunnels.", kColumns}};

constexpr size_t kCounters = 16;  // of a line, in the order of the last columns

struct Facts {
  bool is_part = false;  // of another device, which counts what goes through it, too
  std::string type, driver;
  std::optional<i64> speed_bytes_per_s, mtu_bytes;
  KernelFile state, changes;
};

// ARPHRD_* of include/uapi/linux/if_arp.h.
std::string type_of(const std::string& number) {
  if (number == "1") return "ethernet";
  if (number == "32") return "infiniband";
  if (number == "772") return "loopback";
  return number;
}

// Null in the rows of parts, so that sums have it once: their errors and links are told of them alone.
bool is_counted_above(std::string_view column) {
  return column.ends_with("_bytes") || column.ends_with("_packets");
}

class Network : public Collector {
 public:
  explicit Network(const Host& host)
      : now_(host.steady_now),
        dev_(process_of_namespaces(host) + "/net/dev"),
        class_(host.sys + "/class/net") {}

  Result<std::vector<Table>> sample() override {
    TRY_ASSIGN(std::string_view text, dev_.read());
    text = whole_lines(text);
    std::vector<Table> tables;
    Table& table = tables.emplace_back("network", kColumns);
    known_.begin_round(now_());
    bool has_any = false;
    while (!text.empty()) {
      std::string_view line = next_line(text);
      const size_t colon = line.find(':');
      if (colon == line.npos) continue;  // the two lines of headings
      has_any = true;
      const std::string_view name = trimmed(line.substr(0, colon));
      line.remove_prefix(colon + 1);
      if (name.empty() || name.find('/') != name.npos) continue;
      if (std::ranges::any_of(kLeftOut, [&](auto p) { return name.starts_with(p); })) continue;
      append(table, name, line);
    }
    known_.end_round();
    if (!has_any) return fail(Code::corrupt, "{} has no line of an interface", dev_.path());
    return tables;
  }

 private:
  Facts read_facts(std::string_view name) const {
    const std::string folder = fmt::format("{}/{}", class_, name);
    const auto speed = read_fact_number(folder + "/speed");  // below zero: not known
    // The virtual function below Azure's synthetic interface. A bond has no device and no driver.
    const std::string master = read_link_name(folder + "/master");
    const bool is_part =
        !master.empty() && !read_link_name(fmt::format("{}/{}/device/driver", class_, master)).empty();
    return {is_part,
            type_of(read_fact(folder + "/type")),
            read_link_name(folder + "/device/driver"),
            speed == 0 ? std::nullopt : scaled(speed, kBytesPerMegabit),
            scaled(read_fact_number(folder + "/mtu"), 1),
            KernelFile(folder + "/operstate"),
            KernelFile(folder + "/carrier_changes")};
  }

  void append(Table& table, std::string_view name, std::string_view line) {
    Facts& facts = known_.at(name, [this](std::string_view n) { return read_facts(n); });
    std::string_view state = whole_lines(facts.state.read().value_or(""));
    state = trimmed(state);
    const bool is_told = state == "up" || state == "down" || state == "lowerlayerdown" ||
                         state == "dormant" || state == "notpresent" || state == "testing";
    const std::string_view changes = whole_lines(facts.changes.read().value_or(""));
    std::array<Value, std::size(kColumns)> row{name,
                                               or_null(std::string_view(facts.type)),
                                               or_null(std::string_view(facts.driver)),
                                               is_told ? Value(state == "up") : Value(),
                                               or_null(facts.speed_bytes_per_s),
                                               or_null(facts.mtu_bytes),
                                               or_null(scaled(to_integer(trimmed(changes)), 1))};
    for (size_t i = row.size() - kCounters; i < row.size(); ++i) {
      const Value count = or_null(scaled(to_integer(next_word(line)), 1));
      if (!facts.is_part || !is_counted_above(kColumns[i].name)) row[i] = count;
    }
    table.append(row);
  }

  Ns (*now_)();
  KernelFile dev_;
  std::string class_;
  Known<Facts> known_;
};

}  // namespace

const CollectorKind kNetwork = {
    .name = "network",
    .help = "What went through the network interfaces.",
    .period = kSecond,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      return std::make_unique<Network>(s.host);
    },
};

}  // namespace spotter::collect
