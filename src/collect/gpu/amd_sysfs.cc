#include "collect/gpu/amd_sysfs.h"

#include <algorithm>
#include <charconv>

#include "base/system/file.h"
#include "base/text/words.h"
#include "collect/facts.h"

namespace spotter::collect {
namespace {

// The value behind "NAME=" of a file uevent, or behind "NAME " of a file properties.
std::string_view value_of(std::string_view text, std::string_view name, char separator) {
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == separator)
      return trimmed(line.substr(name.size() + 1));
  }
  return {};
}

// "16.0 GT/s PCIe"
std::optional<i64> generation(std::string_view speed) {
  constexpr std::string_view kSpeeds[] = {"2.5", "5", "8", "16", "32", "64"};
  std::string_view number = next_word(speed);
  if (number.ends_with(".0")) number.remove_suffix(2);
  const auto it = std::ranges::find(kSpeeds, number);
  return it == std::end(kSpeeds) ? std::nullopt : std::optional<i64>(it - std::begin(kSpeeds) + 1);
}

// Of the states "0: 500Mhz" to "2: 2100Mhz *" the highest, in Hz.
std::optional<i64> highest_clock(std::string_view states) {
  std::optional<i64> highest;
  while (!states.empty()) {
    std::string_view line = next_line(states);
    next_word(line);
    const std::string_view word = next_word(line);
    i64 mega = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), mega).ec == std::errc() && mega > 0 &&
        mega < 20'000)
      highest = std::max(highest.value_or(0), mega * 1'000'000);
  }
  return highest;
}

}  // namespace

AmdSysfsGpu::AmdSysfsGpu(std::string device, std::string bus)
    : bus_id(std::move(bus)), device_(std::move(device)) {
  name = read_fact_lines(device_ + "/product_name");
  serial = read_fact_lines(device_ + "/serial_number");
  unique_id = read_fact_lines(device_ + "/unique_id");
  numa_node = to_integer(read_fact_lines(device_ + "/numa_node"));
  if (numa_node == -1) numa_node.reset();
  sm_clock_max = highest_clock(read_fact_lines(device_ + "/pp_dpm_sclk"));
  memory_clock_max = highest_clock(read_fact_lines(device_ + "/pp_dpm_mclk"));
  link_generation_max = generation(read_fact_lines(device_ + "/max_link_speed"));
  link_width_max = to_integer(read_fact_lines(device_ + "/max_link_width"));
  find_sensors();
  for (const std::string& file : names_in(device_ + "/ras")) {
    if (file.ends_with("_err_count")) errors_.push_back("ras/" + file);
  }
}

// hwmon numbers sensors differently from chip to chip; labels tell which is which.
void AmdSysfsGpu::find_sensors() {
  for (const std::string& folder : names_in(device_ + "/hwmon")) {
    const std::string hwmon = "hwmon/" + folder + "/";
    const auto add = [&](std::optional<i64> AmdReading::* value, const std::string& file) {
      if (!read_fact_lines(device_ + "/" + hwmon + file).empty()) sensors_.emplace_back(value, hwmon + file);
    };
    add(&AmdReading::power, "power1_input");
    add(&AmdReading::power, "power1_average");  // of both, this one
    add(&AmdReading::power_limit, "power1_cap");
    add(&AmdReading::energy, "energy1_input");
    add(&AmdReading::fan, "fan1_input");
    add(&AmdReading::fan_max, "fan1_max");
    constexpr struct {
      const char* kind;
      std::string_view label;
      std::optional<i64> AmdReading::* value;
    } kLabelled[] = {{"temp", "edge", &AmdReading::temperature},
                     {"temp", "junction", &AmdReading::hotspot_temperature},
                     {"temp", "mem", &AmdReading::memory_temperature},
                     {"freq", "sclk", &AmdReading::sm_clock},
                     {"freq", "mclk", &AmdReading::memory_clock}};
    for (const auto& [kind, label, value] : kLabelled) {
      for (int i = 1; i <= 4; ++i) {
        const std::string sensor = fmt::format("{}{}", kind, i);
        if (read_fact_lines(device_ + "/" + hwmon + sensor + "_label") == label)
          add(value, sensor + "_input");
      }
    }
  }
}

std::optional<i64> AmdSysfsGpu::number(const char* file) {
  return files_.try_emplace(file, device_ + "/" + file).first->second.read_number();
}

// "ue: 0", "ce: 3" of each part of the chip.
void AmdSysfsGpu::read_errors(AmdReading& reading) {
  for (const std::string& file : errors_) {
    const auto text = files_.try_emplace(file, device_ + "/" + file).first->second.read();
    if (!text) continue;
    if (const auto n = to_integer(value_of(*text, "ce", ':')))
      reading.corrected = reading.corrected.value_or(0) + *n;
    if (const auto n = to_integer(value_of(*text, "ue", ':')))
      reading.uncorrected = reading.uncorrected.value_or(0) + *n;
  }
}

AmdReading AmdSysfsGpu::read() {
  AmdReading reading;
  reading.busy = number("gpu_busy_percent");
  reading.memory_busy = number("mem_busy_percent");
  reading.memory_total = number("mem_info_vram_total");
  reading.memory_used = number("mem_info_vram_used");
  const bool is_read = reading.busy || reading.memory_used;
  // The folder of a GPU that is gone from the bus is gone, too; of one that hangs nothing can be read any
  // more.
  if (read_fact_lines(device_ + "/uevent").empty() || (was_read_ && !is_read)) {
    AmdReading lost;
    lost.is_lost = true;
    return lost;
  }
  was_read_ = was_read_ || is_read;
  for (const auto& [value, file] : sensors_) {
    if (const auto n = number(file.c_str())) reading.*value = n;
  }
  reading.pcie_replays = number("pcie_replay_count");
  reading.link_width = number("current_link_width");
  reading.link_generation = generation(read_fact_lines(device_ + "/current_link_speed"));
  read_errors(reading);
  return reading;
}

std::vector<AmdSysfsGpu> find_amd_gpus(const Host& host) {
  const std::string drm = host.sys + "/class/drm/";
  std::map<std::string, std::string> devices;  // by bus id
  for (const std::string& card : names_in(drm)) {
    if (!card.starts_with("card") || card.find('-') != card.npos) continue;  // card0-DP-1 is a connector
    const std::string device = drm + card + "/device";
    if (read_fact_lines(device + "/vendor") != "0x1002") continue;
    const std::string uevent = read_fact_lines(device + "/uevent");
    const std::string_view bus_id = value_of(uevent, "PCI_SLOT_NAME", '=');
    if (!bus_id.empty()) devices.emplace(bus_id, device);
  }
  std::vector<AmdSysfsGpu> gpus;
  for (const auto& [bus_id, device] : devices) gpus.emplace_back(device, bus_id);
  return gpus;
}

std::map<std::string, std::vector<AmdProcess>> read_amd_processes(const Host& host) {
  const std::string kfd = host.sys + "/class/kfd/kfd/";
  std::map<std::string, std::string> bus_of;  // by the number that the driver gives a GPU
  for (const std::string& node : names_in(kfd + "topology/nodes")) {
    const std::string folder = kfd + "topology/nodes/" + node;
    const std::string id = read_fact_lines(folder + "/gpu_id"),
                      properties = read_fact_lines(folder + "/properties");
    const auto location = to_integer(value_of(properties, "location_id", ' '));
    if (id.empty() || id == "0" || !location) continue;
    bus_of[id] =
        fmt::format("{:04x}:{:02x}:{:02x}.{}", to_integer(value_of(properties, "domain", ' ')).value_or(0),
                    *location >> 8 & 0xff, *location >> 3 & 0x1f, *location & 7);
  }
  std::map<std::string, std::vector<AmdProcess>> processes;
  for (const std::string& name : names_in(kfd + "proc")) {
    const auto pid = to_integer(name);
    if (!pid) continue;
    for (const auto& [id, bus] : bus_of) {
      const auto bytes = to_integer(read_fact_lines(kfd + "proc/" + name + "/vram_" + id));
      if (!bytes) continue;
      std::vector<AmdProcess>& all = processes[bus];
      const auto known = std::ranges::find(all, *pid, &AmdProcess::pid);  // partitions of one GPU
      if (known != all.end())
        known->memory += *bytes;
      else
        all.push_back({*pid, *bytes});
    }
  }
  for (auto& [bus, all] : processes) std::ranges::sort(all, {}, &AmdProcess::pid);
  return processes;
}

}  // namespace spotter::collect
