#include "collect/pmu/pmu_device.h"

#include <algorithm>

#include "base/system/file.h"
#include "base/text/number.h"
#include "base/text/words.h"
#include "collect/facts.h"
#include "collect/host/cpu_list.h"

namespace spotter::collect {
namespace {

std::string folder_of(const Host& host) { return host.sys + "/bus/event_source/devices"; }

// "0x1f" or "31".
std::optional<u64> number_of(std::string_view word) {
  const bool is_hex = word.starts_with("0x");
  if (is_hex) word.remove_prefix(2);
  return number_in<u64>(word, is_hex ? 16 : 10);
}

// Takes what is before the first `mark` off the text, and the mark.
std::string_view next_part(std::string_view& text, char mark) {
  const size_t end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

}  // namespace

std::optional<PmuDevice> PmuDevice::open(const Host& host, const std::string& name) {
  PmuDevice device(folder_of(host) + "/" + name, name, 0);
  const auto type = number_of(device.text("type"));
  if (!type || *type > std::numeric_limits<u32>::max()) return std::nullopt;
  device.type_ = static_cast<u32>(*type);
  return device;
}

std::string PmuDevice::text(const std::string& file) const { return read_fact_lines(folder_ + "/" + file); }

std::vector<i64> PmuDevice::cpumask() const { return parse_cpu_list(text("cpumask")); }

std::optional<i64> PmuDevice::capability(const std::string& name) const {
  const auto value = number_of(text("caps/" + name));
  return value && *value <= std::numeric_limits<u32>::max() ? std::optional(static_cast<i64>(*value))
                                                            : std::nullopt;
}

// "config:0-7,32-35": the lowest bits of the value go where the first range is, and so on.
bool PmuDevice::set(perf_event_attr& attributes, std::string_view field, u64 value) const {
  const std::string format = text("format/" + std::string(field));
  std::string_view ranges = format;
  const std::string_view where = next_part(ranges, ':');
  u64 bits = 0;
  while (!ranges.empty()) {
    const std::string_view range = next_part(ranges, ',');
    const size_t dash = range.find('-');
    const auto first = number_of(range.substr(0, dash));
    const auto last = dash == range.npos ? first : number_of(range.substr(dash + 1));
    if (!first || !last || *last > 63 || *first > *last) return false;
    const u64 width = *last - *first + 1;
    const u64 mask = width == 64 ? ~u64{0} : (u64{1} << width) - 1;
    bits |= (value & mask) << *first;
    value = width == 64 ? 0 : value >> width;
  }
  if (value != 0) return false;  // more than there is room for
  if (where == "config")
    attributes.config |= bits;
  else if (where == "config1")
    attributes.config1 |= bits;
  else if (where == "config2")
    attributes.config2 |= bits;
  else
    return false;
  return true;
}

std::optional<perf_event_attr> PmuDevice::event(const std::string& name) const {
  const std::string terms = text("events/" + name);
  if (terms.empty()) return std::nullopt;
  perf_event_attr attributes{};
  attributes.type = type_;
  std::string_view rest = terms;
  while (!rest.empty()) {
    std::string_view value = next_part(rest, ',');
    const bool is_flag = value.find('=') == value.npos;
    const std::string_view field = next_part(value, '=');
    const auto number = is_flag ? std::optional(u64{1}) : number_of(value);
    if (field.empty() || field.find('/') != field.npos || !number || !set(attributes, field, *number))
      return std::nullopt;
  }
  return attributes;
}

std::optional<PmuDevice> core_pmu(const Host& host) {
  if (auto device = PmuDevice::open(host, "cpu")) return device;
  std::vector<std::string> names = names_in(folder_of(host));
  std::ranges::sort(names);
  for (const std::string& name : names)
    if (name.starts_with("armv8") || name.starts_with("armv9"))
      if (auto device = PmuDevice::open(host, name)) return device;
  return std::nullopt;
}

std::vector<PmuDevice> pmus_named(const Host& host, const std::string& name) {
  constexpr size_t kMost = 256;
  std::vector<std::pair<i64, std::string>> found;
  for (std::string& device : names_in(folder_of(host))) {
    std::string_view rest = device;
    if (!rest.starts_with(name)) continue;
    rest.remove_prefix(name.size());
    const auto number = rest.starts_with('_') ? to_integer(rest.substr(1)) : std::nullopt;
    if (rest.empty() || number) found.emplace_back(number.value_or(-1), std::move(device));
  }
  std::ranges::sort(found);
  std::vector<PmuDevice> devices;
  for (const auto& [number, device_name] : found)
    if (auto device = PmuDevice::open(host, device_name); device && devices.size() < kMost)
      devices.push_back(std::move(*device));
  return devices;
}

}  // namespace spotter::collect
