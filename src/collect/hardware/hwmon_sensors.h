// The sensors of the chips that monitor hardware: which files of /sys/class/hwmon they are.
// Documentation/hwmon/sysfs-interface.rst.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "table/table.h"

namespace spotter::collect {

enum HwmonNumber : u8 {
  kTemperature,
  kTemperatureMax,
  kTemperatureCritical,
  kFan,
  kFanMin,
  kVolts,
  kVoltsMin,
  kVoltsMax,
  kAmperes,
  kWatts,
  kWattsCap,
  kJoules,
  kHwmonNumbers,
};

struct HwmonFile {
  std::string path;
  HwmonNumber number = kTemperature;
  double unit = 1;  // what the file counts in one of the column's
};

struct HwmonSensor {
  std::string chip;       // which device: "platform_coretemp_0", as node_exporter calls it
  std::string chip_name;  // its driver: "coretemp"
  std::string sensor;     // "temp1"
  std::string label;      // "Package id 0"; empty: there is none
  std::optional<double> limits[kHwmonNumbers];  // what hardly changes, as it was when the chips were listed
  HwmonFile measured;
  std::vector<std::string> alarms;  // files that say 1 where a limit is passed
  std::string fault;                // a file that says 1 where the sensor is broken; empty: there is none
};

// In the order of the chips, of the kinds of sensors and of their numbers; no two of one chip and sensor.
std::vector<HwmonSensor> list_hwmon_sensors(const std::string& folder);

}  // namespace spotter::collect
