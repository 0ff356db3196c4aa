// A PMU as the kernel shows it: /sys/bus/event_source/devices/NAME,
// Documentation/ABI/testing/sysfs-bus-event_source-devices-events and -format.
#pragma once
#include <linux/perf_event.h>

#include <optional>
#include <string>
#include <vector>

#include "base/system/host.h"
#include "base/types.h"

namespace spotter::collect {

class PmuDevice {
 public:
  // Nothing where there is none of that name.
  static std::optional<PmuDevice> open(const Host& host, const std::string& name);

  const std::string& name() const { return name_; }
  u32 type() const { return type_; }
  // The event of a name in the folder events/; nothing where it has none, or one that is not understood.
  std::optional<perf_event_attr> event(const std::string& name) const;
  // On which processors it is to be asked, one for each socket or cache; empty: not told.
  std::vector<i64> cpumask() const;
  // In hexadecimal; of caps/.
  std::optional<i64> capability(const std::string& name) const;

 private:
  PmuDevice(std::string folder, std::string name, u32 type)
      : folder_(std::move(folder)), name_(std::move(name)), type_(type) {}
  // Puts a value into the bits that the folder format/ says.
  bool set(perf_event_attr& attributes, std::string_view field, u64 value) const;
  std::string text(const std::string& file) const;

  std::string folder_, name_;
  u32 type_;
};

// The PMU of the processors themselves: "cpu" of x86, "armv8_pmuv3_0" and the like.
std::optional<PmuDevice> core_pmu(const Host& host);
// Those of that name, or of that name, an underscore and a number; in the order of their numbers.
std::vector<PmuDevice> pmus_named(const Host& host, const std::string& name);

}  // namespace spotter::collect
