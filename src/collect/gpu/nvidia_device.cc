#include "collect/gpu/nvidia_device.h"

#include <algorithm>
#include <cctype>

#include "base/system/file.h"
#include "base/text/words.h"

namespace spotter::collect {
namespace {

constexpr u32 kBlank = ~u32{0};

std::string text(collect::nvml::Return (*function)(collect::nvml::Device, char*, u32),
                 collect::nvml::Device device) {
  char buffer[97] = {};
  return collect::nvml::call(function, device, buffer, u32{96}) == collect::nvml::kSuccess ? buffer : "";
}

std::optional<i64> number(collect::nvml::Return code, const u32& value) {
  return code == collect::nvml::kSuccess && value != kBlank ? std::optional<i64>(value) : std::nullopt;
}

// NVML writes the domain with eight digits, Linux with four: 00000000:3B:00.0 is 0000:3b:00.0.
std::string linux_bus_id(std::string_view id) {
  if (id.size() == 16 && id.starts_with("0000")) id.remove_prefix(4);
  std::string lower(id);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

}  // namespace

collect::nvml::Return NvidiaDevice::heed(collect::nvml::Return code) {
  switch (code) {
    case collect::nvml::kGpuIsLost:
    case collect::nvml::kResetRequired:
    case collect::nvml::kUninitialized:
    case collect::nvml::kDriverNotLoaded:
      is_lost = true;
      quality.add(Doubt::lost);
      break;
    case collect::nvml::kNoPermission:
      quality.add(Doubt::denied);
      break;
    default:
      break;
  }
  return code;
}

collect::nvml::Return NvidiaDevice::heed(collect::nvml::Return code, i64& ask_at, i64 sample) {
  const bool is_unsupported =
      code == collect::nvml::kNotSupported || code == collect::nvml::kFunctionNotFound ||
      code == collect::nvml::kArgumentVersionMismatch || code == collect::nvml::kInvalidArgument;
  if (is_unsupported) ask_at = sample + kAskAgain;
  return heed(code);
}

std::optional<double> NvidiaDevice::percent(u32 value) {
  if (value <= 100) return value / 100.0;
  quality.add(Doubt::blank);
  return std::nullopt;
}

std::optional<i64> NvidiaDevice::megahertz(u32 value) {
  if (value < 20'000) return i64{value} * 1'000'000;
  quality.add(Doubt::blank);
  return std::nullopt;
}

// A GPU that works is warmer than 0 and colder than 200 degrees.
std::optional<double> NvidiaDevice::celsius(u32 value) {
  if (value > 0 && value < 200) return value;
  quality.add(Doubt::blank);
  return std::nullopt;
}

// A GPU that answers draws some power, and less than 100 kW.
std::optional<double> NvidiaDevice::milliwatts(u32 value) {
  if (value > 0 && value < 100'000'000) return value / 1e3;
  quality.add(Doubt::blank);
  return std::nullopt;
}

void NvidiaDevice::begin(const collect::nvml::Functions& f, const Host& host,
                         collect::nvml::Device new_handle) {
  handle = new_handle;
  is_lost = false;
  looks = 0;
  ask_at_ = {};
  fields_unsupported.clear();
  has_mig.reset();
  energy.forget();
  name = text(f.nvmlDeviceGetName, handle);
  serial = text(f.nvmlDeviceGetSerial, handle);
  collect::nvml::PciInfo pci{};
  if (collect::nvml::call(f.nvmlDeviceGetPciInfo_v3, handle, &pci) == collect::nvml::kSuccess) {
    pci.bus_id[sizeof(pci.bus_id) - 1] = 0;
    bus_id = linux_bus_id(pci.bus_id);
    const auto node = read_small_file(host.sys + "/bus/pci/devices/" + bus_id + "/numa_node", 64);
    numa_node = node ? to_integer(trimmed(*node)) : std::nullopt;
    if (numa_node == -1) numa_node.reset();
  }
  u32 value = 0;
  const auto fact = [&](auto function, auto... arguments) {
    value = 0;
    return number(collect::nvml::call(function, handle, arguments..., &value), value);
  };
  const auto hertz = [](std::optional<i64> mega) { return mega ? std::optional(*mega * 1'000'000) : mega; };
  sm_clock_max = hertz(fact(f.nvmlDeviceGetMaxClockInfo, nvml::kClockSm));
  memory_clock_max = hertz(fact(f.nvmlDeviceGetMaxClockInfo, nvml::kClockMemory));
  link_generation_max = fact(f.nvmlDeviceGetMaxPcieLinkGeneration);
  link_width_max = fact(f.nvmlDeviceGetMaxPcieLinkWidth);
  collect::nvml::GpmSupport gpm;
  has_gpm = collect::nvml::call(f.nvmlGpmQueryDeviceSupport, handle, &gpm) == collect::nvml::kSuccess &&
            gpm.is_supported != 0;
}

}  // namespace spotter::collect
