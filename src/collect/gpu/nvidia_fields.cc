#include "collect/gpu/nvidia_fields.h"

#include <algorithm>
#include <cmath>

namespace spotter::collect {
namespace {

constexpr u32 kAllLinks = ~u32{0};

constexpr struct Wanted {
  u32 id;
  u32 scope;
  std::optional<u64> NvidiaFields::* value;
} kWanted[] = {
    {3, 0, &NvidiaFields::ecc_corrected_volatile},
    {4, 0, &NvidiaFields::ecc_uncorrected_volatile},
    {5, 0, &NvidiaFields::ecc_corrected_aggregate},
    {6, 0, &NvidiaFields::ecc_uncorrected_aggregate},
    {29, 0, &NvidiaFields::retired_corrected},
    {30, 0, &NvidiaFields::retired_uncorrected},
    {38, 0, &NvidiaFields::crc_flit},
    {45, 0, &NvidiaFields::crc_data},
    {52, 0, &NvidiaFields::replays},
    {59, 0, &NvidiaFields::recoveries},
    {74, 0, &NvidiaFields::violation_power},
    {75, 0, &NvidiaFields::violation_thermal},
    {76, 0, &NvidiaFields::violation_sync_boost},
    {77, 0, &NvidiaFields::violation_board_limit},
    {78, 0, &NvidiaFields::violation_low_utilization},
    {79, 0, &NvidiaFields::violation_reliability},
    {82, 0, &NvidiaFields::memory_temperature},
    {83, 0, &NvidiaFields::energy_mj},
    {91, 0, &NvidiaFields::links},
    {94, 0, &NvidiaFields::pcie_replays},
    {138, kAllLinks, &NvidiaFields::nvlink_tx_kib},
    {139, kAllLinks, &NvidiaFields::nvlink_rx_kib},
    {142, 0, &NvidiaFields::remapped_correctable},
    {143, 0, &NvidiaFields::remapped_uncorrectable},
    {144, 0, &NvidiaFields::remap_pending},
    {145, 0, &NvidiaFields::remap_failed},
    {269, 0, &NvidiaFields::violation_thermal_sw},
    {270, 0, &NvidiaFields::violation_thermal_hw},
    {271, 0, &NvidiaFields::violation_power_brake},
};

// Null of a placeholder.
std::optional<u64> decode(const collect::nvml::FieldValue& field) {
  switch (field.value_type) {
    case nvml::kDouble:
      return field.real >= 0 && field.real < 9e18 ? std::optional(static_cast<u64>(field.real))
                                                  : std::nullopt;
    case nvml::kU32:
      return field.u32_value != ~u32{0} ? std::optional<u64>(field.u32_value) : std::nullopt;
    case nvml::kULong:
    case nvml::kU64:
      return field.u64_value <= u64{1} << 62 ? std::optional(field.u64_value) : std::nullopt;
    case nvml::kI64:
      return field.i64_value >= 0 && field.i64_value <= i64{1} << 62 ? std::optional<u64>(field.i64_value)
                                                                     : std::nullopt;
    case nvml::kI32:
      return field.i32_value >= 0 ? std::optional<u64>(field.i32_value) : std::nullopt;
    case nvml::kU16:
      return field.u16_value;
    default:
      return std::nullopt;
  }
}

}  // namespace

NvidiaFields read_fields(NvidiaDevice& device, const NvidiaSample& sample) {
  NvidiaFields fields;
  if (sample.number % NvidiaDevice::kAskAgain == 0) device.fields_unsupported.clear();
  collect::nvml::FieldValue values[std::size(kWanted)] = {};
  const Wanted* asked[std::size(kWanted)];
  i32 count = 0;
  for (const Wanted& wanted : kWanted) {
    if (std::ranges::find(device.fields_unsupported, wanted.id) != device.fields_unsupported.end()) continue;
    values[count].field_id = wanted.id;
    values[count].scope_id = wanted.scope;
    asked[count++] = &wanted;
  }
  if (!device.answers(sample, Query::fields, sample.f.nvmlDeviceGetFieldValues, device.handle, count, values))
    return fields;
  for (i32 i = 0; i < count; ++i) {
    const collect::nvml::Return code = device.heed(values[i].result);
    if (code == collect::nvml::kNotSupported || code == collect::nvml::kInvalidArgument) {
      device.fields_unsupported.push_back(asked[i]->id);
    } else if (code == collect::nvml::kSuccess) {
      const std::optional<u64> value = decode(values[i]);
      if (!value) device.quality.add(Doubt::blank);
      fields.*asked[i]->value = value;
    }
  }
  return device.is_lost ? NvidiaFields() : fields;
}

}  // namespace spotter::collect
