#include "collect/hardware/hwmon_sensors.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/system/file.h"
#include "base/text/words.h"
#include "collect/facts.h"
#include "collect/hardware/numbered.h"

namespace spotter::collect {
namespace {

constexpr double kMilli = 1000, kMicro = 1e6;

// "temp1_input" is of temp, 1 and input.
struct Item {
  std::string_view type, item;
  HwmonNumber number;
  double unit;
  bool is_limit = false;
};
constexpr Item kItems[] = {
    {"temp", "input", kTemperature, kMilli},
    {"temp", "max", kTemperatureMax, kMilli, true},
    {"temp", "crit", kTemperatureCritical, kMilli, true},
    {"fan", "input", kFan, 1},
    {"fan", "min", kFanMin, 1, true},
    {"in", "input", kVolts, kMilli},
    {"in", "min", kVoltsMin, kMilli, true},
    {"in", "max", kVoltsMax, kMilli, true},
    {"curr", "input", kAmperes, kMilli},
    {"power", "input", kWatts, kMicro},
    {"power", "average", kWatts, kMicro},  // where there is no input
    {"power", "cap", kWattsCap, kMicro, true},
    {"energy", "input", kJoules, kMicro},
};

struct Name {
  size_t type;  // the first of kItems that has it
  i64 number;
  std::string_view item;
  auto operator<=>(const Name&) const = default;
};

std::optional<Name> parse_name(std::string_view name) {
  const size_t digit = name.find_first_of("0123456789"), bar = name.find('_');
  if (digit == name.npos || bar == name.npos || bar < digit) return std::nullopt;
  const std::string_view type = name.substr(0, digit);
  const auto item = std::ranges::find(kItems, type, &Item::type);
  const auto number = to_integer(name.substr(digit, bar - digit));
  if (item == std::end(kItems) || !number) return std::nullopt;
  return Name{static_cast<size_t>(item - kItems), *number, name.substr(bar + 1)};
}

// As labels are: small letters, digits, colons and bars.
std::string cleaned(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool is_kept = (small >= 'a' && small <= 'z') || (small >= '0' && small <= '9') || small == ':';
    out += is_kept ? small : '_';
  }
  const size_t begin = out.find_first_not_of('_');
  return begin == out.npos ? std::string() : out.substr(begin, out.find_last_not_of('_') - begin + 1);
}

// By its device, whose place does not depend on the order in which drivers came; or by its name.
std::string chip_of(const std::string& folder, const std::string& name) {
  std::error_code error;
  const std::filesystem::path device = std::filesystem::canonical(folder + "/device", error);
  if (!error) {
    const std::string bus = cleaned(device.parent_path().filename().string()),
                      own = cleaned(device.filename().string());
    if (!own.empty()) return bus.empty() ? own : bus + "_" + own;
  }
  return cleaned(name);
}

std::optional<double> read_number(const std::string& path, double unit) {
  const auto number = read_fact_number(path);
  return number ? std::optional(static_cast<double>(*number) / unit) : std::nullopt;
}

// Whether a file says that a limit is passed: alarm, max_alarm, crit_alarm ..
bool is_alarm(std::string_view item) { return item == "alarm" || item.ends_with("_alarm"); }

void add(HwmonSensor& sensor, const Name& name, const std::string& path) {
  if (is_alarm(name.item)) sensor.alarms.push_back(path);
  if (name.item == "fault") sensor.fault = path;
  if (name.item == "label") sensor.label = read_fact(path);
  for (const Item& item : kItems) {
    if (item.type != kItems[name.type].type || item.item != name.item) continue;
    if (item.is_limit) {
      sensor.limits[item.number] = read_number(path, item.unit);
    } else if (sensor.measured.path.empty() || name.item == "input") {
      sensor.measured = {path, item.number, item.unit};
    }
  }
}

}  // namespace

std::vector<HwmonSensor> list_hwmon_sensors(const std::string& folder) {
  std::vector<HwmonSensor> sensors;
  std::set<std::string> chips;
  for (const Numbered& hwmon : numbered_in(folder, "hwmon")) {
    const std::string path = folder + "/" + hwmon.name;
    const std::string chip_name = read_fact(path + "/name");
    std::string chip = chip_of(path, chip_name);
    if (chip.empty() || chips.contains(chip)) chip = hwmon.name;
    chips.insert(chip);
    std::map<std::pair<size_t, i64>, HwmonSensor> found;
    // Older drivers have their files at the device.
    for (const std::string& where : {path + "/device", path}) {
      for (const std::string& file : names_in(where)) {
        if (const auto name = parse_name(file))
          add(found[{name->type, name->number}], *name, where + "/" + file);
      }
    }
    for (auto& [key, sensor] : found) {
      if (sensor.measured.path.empty()) continue;
      sensor.chip = chip;
      sensor.chip_name = chip_name;
      sensor.sensor = fmt::format("{}{}", kItems[key.first].type, key.second);
      std::ranges::sort(sensor.alarms);
      sensors.push_back(std::move(sensor));
    }
  }
  return sensors;
}

}  // namespace spotter::collect
