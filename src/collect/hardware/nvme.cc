// nvme: NVMe controllers: what they are, whether they work, and what they hold. /sys/class/nvme,
// drivers/nvme/host/sysfs.c. What is read and written is told by the collector disk, temperatures by hwmon.
#include <algorithm>
#include <optional>

#include "base/system/file.h"
#include "base/time.h"
#include "collect/facts.h"
#include "collect/hardware/numbered.h"
#include "collect/list.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr i64 kSector = 512;  // in /sys, whatever the namespace has

constexpr Field kColumns[] = {
    {"device", Type::text, Unit::none, Role::key, "Controller."},
    {"model", Type::text, Unit::none, Role::detail, "As the controller says."},
    {"serial", Type::text, Unit::none, Role::detail, "Serial number."},
    {"firmware", Type::text, Unit::none, Role::detail, "Revision of the firmware."},
    {"transport", Type::text, Unit::none, Role::detail, "How it is reached: pcie, tcp, rdma."},
    {"address", Type::text, Unit::none, Role::detail, "Where it is: of PCIe the device, else the host."},
    {"numa_node", Type::integer, Unit::none, Role::detail, "NUMA node next to it."},
    {"state", Type::text, Unit::none, Role::detail,
     "live, or what keeps it from that: new, resetting, connecting, deleting, dead."},
    {"live", Type::flag, Unit::none, Role::value, "Whether it takes requests."},
    {"namespaces", Type::integer, Unit::count, Role::value, "Namespaces that it has here."},
    {"size_bytes", Type::integer, Unit::bytes, Role::value, "Size of its namespaces together."},
};
constexpr TableKind kTables[] = {{"nvme", "/sys/class/nvme", "An NVMe controller.", kColumns}};

// nvme0n1; nvme0c1n1 where several controllers lead to one namespace.
bool is_namespace(std::string_view name) {
  const auto takes_number = [&](std::string_view before) {
    if (!name.starts_with(before)) return false;
    name.remove_prefix(before.size());
    const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    name.remove_prefix(digits);
    return digits > 0;
  };
  if (!takes_number("nvme")) return false;
  if (name.starts_with('c') && !takes_number("c")) return false;
  return takes_number("n") && name.empty();
}

class Nvme : public Collector {
 public:
  explicit Nvme(const Host& host) : now_(host.steady_now), folder_(host.sys + "/class/nvme") {}

  Result<std::vector<Table>> sample() override {
    std::vector<Table> tables;
    Table& table = tables.emplace_back("nvme", kColumns);
    known_.begin_round(now_());
    for (const Numbered& one : numbered_in(folder_, "nvme")) {
      const std::string path = folder_ + "/" + one.name;
      const Facts& facts = known_.at(one.name, [&](std::string_view) { return read_facts(path); });
      const std::string state = read_fact(path + "/state");
      table.append(
          {std::string_view(one.name), or_null(facts.model), or_null(facts.serial), or_null(facts.firmware),
           or_null(facts.transport), or_null(facts.address), or_null(facts.numa_node), or_null(state),
           state.empty() ? Value() : Value(state == "live"), facts.namespaces, or_null(facts.size_bytes)});
    }
    known_.end_round();
    if (table.rows() == 0) return fail(Code::not_found, "this machine has no NVMe controller in {}", folder_);
    return tables;
  }

 private:
  struct Facts {
    std::string model, serial, firmware, transport, address;
    std::optional<i64> numa_node;
    i64 namespaces = 0;
    std::optional<i64> size_bytes;  // null where that of one is not told
  };

  static Facts read_facts(const std::string& path) {
    Facts facts{read_fact(path + "/model"),
                read_fact(path + "/serial"),
                read_fact(path + "/firmware_rev"),
                read_fact(path + "/transport"),
                read_fact(path + "/address"),
                scaled(read_fact_number(path + "/numa_node"), 1),
                0,
                0};
    for (const std::string& name : names_in(path)) {
      if (!is_namespace(name)) continue;
      ++facts.namespaces;
      const auto size = scaled(read_fact_number(path + "/" + name + "/size"), kSector);
      i64 sum = 0;
      if (size && facts.size_bytes && !__builtin_add_overflow(*size, *facts.size_bytes, &sum))
        facts.size_bytes = sum;
      else
        facts.size_bytes.reset();
    }
    return facts;
  }

  Ns (*now_)();
  std::string folder_;
  Known<Facts> known_;
};

}  // namespace

const CollectorKind kNvme = {
    .name = "nvme",
    .help = "NVMe controllers: what they are, whether they work, and what they hold.",
    .period = 10 * kSecond,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      auto nvme = std::make_unique<Nvme>(s.host);
      TRY(nvme->sample());
      return nvme;
    },
};

}  // namespace spotter::collect
