// thermal: temperatures by which the kernel slows a machine down, and how far it does.
// /sys/class/thermal, Documentation/driver-api/thermal/sysfs-api.rst, ABI/testing/sysfs-class-thermal.
#include <optional>

#include "base/time.h"
#include "collect/facts.h"
#include "collect/hardware/numbered.h"
#include "collect/list.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr size_t kMost = 512;  // of each kind: a machine may have a cooling device for each processor

constexpr Field kZoneColumns[] = {
    {"zone", Type::integer, Unit::none, Role::key, "Number of the thermal zone."},
    {"type", Type::text, Unit::none, Role::key, "What the zone is of: x86_pkg_temp, acpitz."},
    {"temperature_celsius", Type::real, Unit::celsius, Role::value, "Temperature."},
    {"critical_celsius", Type::real, Unit::celsius, Role::value,
     "Temperature at which the machine is switched off."},
};
constexpr Field kDeviceColumns[] = {
    {"device", Type::integer, Unit::none, Role::key, "Number of the cooling device."},
    {"type", Type::text, Unit::none, Role::key, "What it is: Processor, Fan, intel_powerclamp."},
    {"state", Type::integer, Unit::none, Role::value,
     "How much it cools; above 0, what is no fan makes something slower."},
    {"max_state", Type::integer, Unit::none, Role::value, "How much it can cool at most."},
};
constexpr TableKind kTables[] = {
    {"thermal_zone", "/sys/class/thermal", "A part of the machine with a temperature.", kZoneColumns},
    {"cooling_device", "/sys/class/thermal", "What the kernel cools the machine with.", kDeviceColumns},
};

std::optional<double> celsius(std::optional<i64> millidegrees) {
  if (!millidegrees) return std::nullopt;
  return static_cast<double>(*millidegrees) / 1000;
}

// Its trip points are numbered without gaps.
std::optional<double> read_critical(const std::string& path) {
  constexpr int kMostTrips = 64;
  for (int trip = 0; trip < kMostTrips; ++trip) {
    const std::string type = read_fact(fmt::format("{}/trip_point_{}_type", path, trip));
    if (type.empty()) return std::nullopt;
    if (type == "critical")
      return celsius(read_fact_number(fmt::format("{}/trip_point_{}_temp", path, trip)));
  }
  return std::nullopt;
}

class Thermal : public Collector {
 public:
  explicit Thermal(const Host& host) : now_(host.steady_now), folder_(host.sys + "/class/thermal") {}

  Result<std::vector<Table>> sample() override {
    std::vector<Table> tables;
    known_.begin_round(now_());
    append(tables.emplace_back("thermal_zone", kZoneColumns), "thermal_zone",
           [&](Table& table, const Numbered& zone, const std::string& path) {
             const Facts& facts = facts_of(zone, path);
             table.append({zone.number, or_null(facts.type),
                           or_null(celsius(read_fact_number(path + "/temp"))), or_null(facts.critical)});
           });
    append(tables.emplace_back("cooling_device", kDeviceColumns), "cooling_device",
           [&](Table& table, const Numbered& device, const std::string& path) {
             const Facts& facts = facts_of(device, path);
             table.append(
                 {device.number, or_null(facts.type), state(path + "/cur_state"), or_null(facts.max_state)});
           });
    known_.end_round();
    std::erase_if(tables, [](const Table& table) { return table.rows() == 0; });
    if (tables.empty())
      return fail(Code::not_found, "this machine has no thermal zone and no cooling device in {}", folder_);
    return tables;
  }

 private:
  struct Facts {
    std::string type;
    std::optional<double> critical;
    std::optional<i64> max_state;
  };

  const Facts& facts_of(const Numbered& device, const std::string& path) {
    return known_.at(device.name, [&](std::string_view) -> Facts {
      return {read_fact(path + "/type"), read_critical(path),
              scaled(read_fact_number(path + "/max_state"), 1)};
    });
  }

  static Value state(const std::string& path) { return or_null(scaled(read_fact_number(path), 1)); }

  template <class Append>
  void append(Table& table, const char* kind, Append&& append_row) {
    const std::vector<Numbered> all = numbered_in(folder_, kind);
    for (const Numbered& one : all) {
      if (table.rows() == kMost) break;
      append_row(table, one, folder_ + "/" + one.name);
    }
    if (all.size() > kMost)
      table.notes.add("devices_left_out", Severity::loss,
                      fmt::format("entries of {} beyond the first {} were left out", folder_, kMost), -1,
                      static_cast<i64>(all.size() - kMost));
  }

  Ns (*now_)();
  std::string folder_;
  Known<Facts> known_;
};

}  // namespace

const CollectorKind kThermal = {
    .name = "thermal",
    .help = "Temperatures by which the kernel slows the machine down, and how far it does.",
    .period = 30 * kSecond,
    .may_block = true,  // the firmware answers for some
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      auto thermal = std::make_unique<Thermal>(s.host);
      TRY(thermal->sample());
      return thermal;
    },
};

}  // namespace spotter::collect
