// rdma: the ports of InfiniBand, RoCE and EFA adapters: link and counters. /sys/class/infiniband,
// Documentation/ABI/stable/sysfs-class-infiniband.
//
// All files stay open: 8 ports have 400 of them. Ports that came are found once a minute, those that went as
// soon as they cannot be read.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>

#include "base/system/descriptor.h"
#include "base/system/file.h"
#include "base/text/words.h"
#include "base/time.h"
#include "collect/facts.h"
#include "collect/list.h"
#include "collect/network/rdma_counters.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr size_t kMostPorts = 64;  // a host with virtual functions has hundreds
constexpr Ns kScanPeriod = kMinute;
constexpr size_t kMostText = 256;  // what is longer is no file of ours

constexpr Field kHead[] = {
    {"device", Type::text, Unit::none, Role::key, "Adapter."},
    {"port", Type::integer, Unit::none, Role::key, "Port of the adapter, from 1."},
    {"link_layer", Type::text, Unit::none, Role::detail, "InfiniBand or Ethernet."},
    {"netdev", Type::text, Unit::none, Role::detail, "Network device of the port."},
    {"rate", Type::text, Unit::none, Role::detail, "Speed and width of the link."},
    {"hca_type", Type::text, Unit::none, Role::detail, "Model of the adapter."},
    {"board_id", Type::text, Unit::none, Role::detail, "Board of the adapter."},
    {"fw_ver", Type::text, Unit::none, Role::detail, "Firmware of the adapter."},
    {"numa_node", Type::integer, Unit::none, Role::detail, "NUMA node next to the adapter."},
    {"up", Type::flag, Unit::none, Role::value, "Whether the port can be used: its state is ACTIVE."},
    {"phys_state", Type::text, Unit::none, Role::detail, "State of the cable's link."},
    {"rate_bytes_per_s", Type::real, Unit::bytes_per_s, Role::value, "What the link can carry at most."},
};

constexpr auto kColumns = [] {
  std::array<Field, std::size(kHead) + std::size(kRdmaCounters)> columns{};
  std::ranges::copy(kHead, columns.begin());
  std::ranges::transform(kRdmaCounters, columns.begin() + std::size(kHead), &RdmaCounter::column);
  return columns;
}();

constexpr TableKind kTables[] = {
    {"rdma", "/sys/class/infiniband", "A port of an RDMA adapter.", kColumns},
};

// A short file of /sys that stays open; its text goes where the caller has room.
class ShortFile {
 public:
  explicit ShortFile(const std::string& path)
      : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  bool is_open() const { return file_.fd >= 0; }
  // Nothing where it cannot be read; `gone` is set where that is since the device went.
  std::optional<std::string_view> read(char (&room)[kMostText], bool& gone) const {
    if (!is_open()) return std::nullopt;
    const ssize_t n = pread(file_.fd, room, sizeof room, 0);
    if (n < 0 && (errno == ENODEV || errno == ENOENT || errno == ENXIO || errno == ESRCH)) gone = true;
    if (n < 0 || n == sizeof room) return std::nullopt;
    return trimmed({room, static_cast<size_t>(n)});
  }

 private:
  Descriptor file_;
};

struct Counter {
  size_t column;  // of kRdmaCounters
  i64 factor;
  bool may_stick;  // it may be one of 32 bits that stops at its largest value
  ShortFile file;
};

struct Port {
  std::string device, link_layer, netdev, hca_type, board_id, fw_ver;
  i64 number = 0;
  std::optional<i64> numa_node;
  ShortFile state, phys_state, rate;
  std::vector<Counter> counters;
};

// "4: ACTIVE" is "ACTIVE".
std::string_view after_colon(std::string_view text) {
  const size_t colon = text.find(':');
  return colon == text.npos ? text : trimmed(text.substr(colon + 1));
}

// "400 Gb/sec (4X NDR)": in decimal gigabits.
std::optional<double> rate_of(std::string_view text) {
  double gigabits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gigabits);
  const std::string_view rest(end, text.data() + text.size());
  if (error != std::errc() || !rest.starts_with(" Gb/sec") || !std::isfinite(gigabits) || gigabits < 0)
    return std::nullopt;
  return gigabits * 1e9 / 8;
}

class Rdma : public Collector {
 public:
  explicit Rdma(const Surroundings& s) : host_(s.host), folder_(s.host.sys + "/class/infiniband") { scan(); }
  bool empty() const { return ports_.empty(); }

  Result<std::vector<Table>> sample() override {
    if (host_.steady_now() - scanned_ >= kScanPeriod) scan();
    bool gone = false;
    Table table = read(gone);
    if (gone) {
      scan();
      table = read(gone);
    }
    if (left_out_ > 0)
      table.notes.add("ports_left_out", Severity::loss,
                      fmt::format("RDMA ports beyond the first {} were left out", kMostPorts), -1, left_out_);
    std::vector<Table> tables;
    tables.push_back(std::move(table));
    return tables;
  }

 private:
  void scan() {
    scanned_ = host_.steady_now();
    ports_.clear();
    left_out_ = 0;
    // Physical functions first: of too many ports, those of virtual functions are left out.
    std::vector<std::pair<bool, std::string>> devices;
    for (std::string& name : names_in(folder_)) {
      std::error_code ignored;
      const bool is_virtual = std::filesystem::exists(folder_ + "/" + name + "/device/physfn", ignored);
      devices.emplace_back(is_virtual, std::move(name));
    }
    std::ranges::sort(devices);
    for (const auto& [is_virtual, name] : devices) {
      std::vector<i64> numbers;
      for (const std::string& port : names_in(folder_ + "/" + name + "/ports"))
        if (const auto number = to_integer(port); number && *number > 0) numbers.push_back(*number);
      std::ranges::sort(numbers);
      for (const i64 number : numbers) {
        if (ports_.size() < kMostPorts)
          ports_.push_back(open_port(name, number));
        else
          ++left_out_;
      }
    }
  }

  Port open_port(const std::string& name, i64 number) const {
    const std::string device = folder_ + "/" + name;
    const std::string path = fmt::format("{}/ports/{}", device, number);
    Port port{name,
              read_fact_lines(path + "/link_layer"),
              netdev_of(device, path, number),
              read_fact_lines(device + "/hca_type"),
              read_fact_lines(device + "/board_id"),
              read_fact_lines(device + "/fw_ver"),
              number,
              to_integer(read_fact_lines(device + "/device/numa_node")),
              ShortFile(path + "/state"),
              ShortFile(path + "/phys_state"),
              ShortFile(path + "/rate"),
              {}};
    if (port.numa_node && *port.numa_node < 0) port.numa_node.reset();
    for (size_t i = 0; i < std::size(kRdmaCounters); ++i) {
      for (const char* name_of_file : kRdmaCounters[i].files) {
        if (!name_of_file) break;
        ShortFile file(path + "/" + name_of_file);
        if (!file.is_open()) continue;
        const bool is_first = name_of_file == kRdmaCounters[i].files[0];
        const bool may_stick = std::string_view(name_of_file).starts_with("counters/");
        port.counters.push_back({i, is_first ? kRdmaCounters[i].factor : 1, may_stick, std::move(file)});
        break;
      }
    }
    return port;
  }

  // RoCE says it for each address of the port; of InfiniBand it is the device's IPoIB interface.
  static std::string netdev_of(const std::string& device, const std::string& port, i64 number) {
    if (std::string name = read_fact_lines(port + "/gid_attrs/ndevs/0"); !name.empty()) return name;
    std::vector<std::string> names = names_in(device + "/device/net");
    std::ranges::sort(names);
    for (const std::string& name : names) {
      const std::string path = fmt::format("{}/device/net/{}/dev_port", device, name);
      if (const auto index = to_integer(read_fact_lines(path)); names.size() == 1 || index == number - 1)
        return name;
    }
    return {};
  }

  Table read(bool& gone) const {
    Table table("rdma", kColumns);
    std::vector<Value> row;
    char state[kMostText], phys_state[kMostText], rate[kMostText], number[kMostText];
    for (const Port& port : ports_) {
      const auto state_text = port.state.read(state, gone);
      const auto rate_text = port.rate.read(rate, gone);
      row.assign({std::string_view(port.device), port.number, or_null(port.link_layer), or_null(port.netdev),
                  or_null(rate_text), or_null(port.hca_type), or_null(port.board_id), or_null(port.fw_ver),
                  or_null(port.numa_node), state_text ? Value(after_colon(*state_text) == "ACTIVE") : Value(),
                  or_null(after_colon(port.phys_state.read(phys_state, gone).value_or(std::string_view()))),
                  rate_text ? or_null(rate_of(*rate_text)) : Value()});
      row.resize(kColumns.size());
      for (const Counter& counter : port.counters) {
        const auto text = counter.file.read(number, gone);
        row[std::size(kHead) + counter.column] = text ? value_of(counter, *text) : Value();
      }
      table.append(row);
    }
    return table;
  }

  // A counter of 32 bits that is full stays at its largest value (IBTA 16.1.3.5), and says no more.
  static Value value_of(const Counter& counter, std::string_view text) {
    const auto number = to_integer(text);
    i64 value = 0;
    if (!number || *number < 0 || (counter.may_stick && *number == std::numeric_limits<u32>::max()) ||
        __builtin_mul_overflow(*number, counter.factor, &value))
      return {};
    return value;
  }

  Host host_;
  std::string folder_;
  Ns scanned_ = 0;
  std::vector<Port> ports_;
  i64 left_out_ = 0;
};

}  // namespace

const CollectorKind kRdma = {
    .name = "rdma",
    .help = "Links and counters of InfiniBand, RoCE and EFA adapters.",
    .period = kSecond,
    .may_block = true,  // the driver asks the adapter's firmware
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      auto rdma = std::make_unique<Rdma>(s);
      if (rdma->empty())
        return fail(Code::not_found, "there is no RDMA adapter: {}/class/infiniband has no port", s.host.sys);
      return rdma;
    },
};

}  // namespace spotter::collect
