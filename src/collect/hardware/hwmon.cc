// hwmon: temperatures, fans, voltages, currents and power, as the chips that monitor hardware measure them.
// Many are behind a slow bus (I2C), and each read asks the chip: not every second, and limits once a minute.
#include <algorithm>

#include "base/time.h"
#include "collect/facts.h"
#include "collect/hardware/hwmon_sensors.h"
#include "collect/list.h"

namespace spotter::collect {
namespace {

constexpr size_t kMostSensors = 1000;
constexpr Ns kListAgain = kMinute - kSecond;

constexpr Field measured(const char* name, Unit unit, const char* help) {
  return {name, Type::real, unit, Role::value, help};
}
// After the first four, those of HwmonNumber.
constexpr Field kColumns[] = {
    {"chip", Type::text, Unit::none, Role::key, "Which device measures, by its bus and place."},
    {"sensor", Type::text, Unit::none, Role::key, "Which of its sensors: temp1, fan2, in0."},
    {"chip_name", Type::text, Unit::none, Role::detail, "Kind of chip: coretemp, k10temp, nvme."},
    {"label", Type::text, Unit::none, Role::detail, "What it measures, where the driver knows."},
    measured("temperature_celsius", Unit::celsius, "Temperature."),
    measured("temperature_max_celsius", Unit::celsius, "Temperature that it should not pass."),
    measured("temperature_critical_celsius", Unit::celsius, "Temperature that does damage."),
    measured("fan_rpm", Unit::none, "Turns of the fan in a minute."),
    measured("fan_min_rpm", Unit::none, "Turns that it should have at least."),
    measured("voltage_volts", Unit::none, "Voltage at the chip's pin, as boards wire it."),
    measured("voltage_min_volts", Unit::none, "Voltage that it should not fall below."),
    measured("voltage_max_volts", Unit::none, "Voltage that it should not pass."),
    measured("current_amperes", Unit::none, "Current."),
    measured("power_watts", Unit::watts, "Power, now or as the mean of the chip's interval."),
    measured("power_cap_watts", Unit::watts, "Power that the machine is kept below."),
    {"energy_joules", Type::real, Unit::joules, Role::counter, "Energy that was used."},
    {"alarm", Type::flag, Unit::none, Role::value,
     "Whether the chip says that one of the sensor's limits is passed."},
    {"fault", Type::flag, Unit::none, Role::value,
     "Whether the chip says that the sensor is broken or open."},
};
constexpr size_t kHead = 4, kAlarm = kHead + kHwmonNumbers, kFault = kAlarm + 1;
static_assert(std::size(kColumns) == kFault + 1);
constexpr TableKind kTables[] = {{"hwmon", "/sys/class/hwmon", "A sensor of the hardware.", kColumns}};

class Hwmon : public Collector {
 public:
  explicit Hwmon(const Host& host) : now_(host.steady_now), folder_(host.sys + "/class/hwmon") { list(); }

  Result<std::vector<Table>> sample() override {
    if (now_() - listed_ >= kListAgain) list();
    if (sensors_.empty())
      return fail(Code::not_found, "no chip monitors the hardware of this machine in {}", folder_);
    std::vector<Table> tables;
    Table& table = tables.emplace_back("hwmon", kColumns);
    for (const HwmonSensor& sensor : sensors_) append(table, sensor);
    if (left_out_ > 0)
      table.notes.add("sensors_left_out", Severity::loss,
                      fmt::format("sensors beyond the first {} were left out", kMostSensors), -1, left_out_);
    return tables;
  }

 private:
  void list() {
    listed_ = now_();
    sensors_ = list_hwmon_sensors(folder_);
    left_out_ = static_cast<i64>(sensors_.size() - std::min(sensors_.size(), kMostSensors));
    sensors_.resize(std::min(sensors_.size(), kMostSensors));
  }

  // What cannot be read now (a sensor that is switched off, a bus that is busy) is null.
  static void append(Table& table, const HwmonSensor& sensor) {
    std::vector<Value> row{std::string_view(sensor.chip), std::string_view(sensor.sensor),
                           or_null(sensor.chip_name), or_null(sensor.label)};
    for (const auto& limit : sensor.limits) row.push_back(or_null(limit));
    row.resize(std::size(kColumns));
    const HwmonFile& measured = sensor.measured;
    if (const auto number = read_fact_number(measured.path))
      row[kHead + measured.number] = static_cast<double>(*number) / measured.unit;
    for (const std::string& path : sensor.alarms) {
      const Value alarm = read_flag(path);
      if (is_null(row[kAlarm]) || alarm == Value(true)) row[kAlarm] = alarm;
    }
    if (!sensor.fault.empty()) row[kFault] = read_flag(sensor.fault);
    table.append(row);
  }

  static Value read_flag(const std::string& path) {
    const auto number = read_fact_number(path);
    return number ? Value(*number != 0) : Value();
  }

  Ns (*now_)();
  std::string folder_;
  Ns listed_ = 0;
  std::vector<HwmonSensor> sensors_;
  i64 left_out_ = 0;
};

}  // namespace

const CollectorKind kHwmon = {
    .name = "hwmon",
    .help = "Temperatures, fans, voltages, currents and power, as the hardware's chips measure them.",
    .period = 30 * kSecond,
    .may_block = true,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      auto hwmon = std::make_unique<Hwmon>(s.host);
      TRY(hwmon->sample());
      return hwmon;
    },
};

}  // namespace spotter::collect
