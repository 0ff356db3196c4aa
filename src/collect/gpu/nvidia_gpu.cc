#include "collect/gpu/nvidia_gpu.h"

#include <algorithm>

#include "collect/gpu/nvidia_fields.h"
#include "collect/gpu/owner.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr u32 kMostLinks = 36;
constexpr i64 kSlow = 60, kLinks = 10;  // looks between two at what rarely changes

constexpr struct {
  gpu::Column column;
  u64 bit;
  const char* word;
} kThrottle[] = {
    {gpu::throttle_idle, 0x1, "idle"},
    {gpu::throttle_application_clocks, 0x2, "application_clocks"},
    {gpu::throttle_power_cap, 0x4, "power_cap"},
    {gpu::throttle_hw_slowdown, 0x8, "hw_slowdown"},
    {gpu::throttle_sync_boost, 0x10, "sync_boost"},
    {gpu::throttle_thermal_sw, 0x20, "thermal_sw"},
    {gpu::throttle_thermal_hw, 0x40, "thermal_hw"},
    {gpu::throttle_power_brake, 0x80, "power_brake"},
    {gpu::throttle_display_clock, 0x100, "display_clock"},
    {gpu::throttle_board_limit, 0x200, "board_limit"},
    {gpu::throttle_reliability, 0x400, "reliability"},
};

std::optional<i64> whole(std::optional<u64> value) {
  return value ? std::optional(static_cast<i64>(*value)) : std::nullopt;
}

std::optional<i64> sum(std::optional<u64> a, std::optional<u64> b) {
  return a || b ? std::optional(static_cast<i64>(a.value_or(0) + b.value_or(0))) : std::nullopt;
}

std::optional<bool> flag(std::optional<u64> value) {
  return value ? std::optional(*value != 0) : std::nullopt;
}

// Asks the driver for this sample and puts the answers into the cells of a row.
class Reader {
 public:
  Reader(NvidiaDevice& device, const NvidiaSample& sample, Row& row)
      : d_(device), sample_(sample), f_(sample.f), row_(row) {}

  void busy() {
    collect::nvml::Utilization utilization{};
    if (d_.answers(sample_, Query::utilization, f_.nvmlDeviceGetUtilizationRates, d_.handle, &utilization)) {
      d_.utilization = d_.percent(utilization.gpu);
      row_[gpu::utilization_ratio] = or_null(d_.utilization);
      row_[gpu::memory_utilization_ratio] = or_null(d_.percent(utilization.memory));
    }
    u32 percent = 0, period = 0;
    if (d_.answers(sample_, Query::encoder, f_.nvmlDeviceGetEncoderUtilization, d_.handle, &percent, &period))
      row_[gpu::encoder_utilization_ratio] = or_null(d_.percent(percent));
    if (d_.answers(sample_, Query::decoder, f_.nvmlDeviceGetDecoderUtilization, d_.handle, &percent, &period))
      row_[gpu::decoder_utilization_ratio] = or_null(d_.percent(percent));
  }

  void memory() {
    if (d_.is_lost) return;
    const GpuMemory memory = read_memory(f_, d_.handle, d_.quality);
    row_[gpu::memory_total_bytes] = or_null(memory.total);
    row_[gpu::memory_used_bytes] = or_null(memory.used);
    row_[gpu::memory_free_bytes] = or_null(memory.free);
    row_[gpu::memory_reserved_bytes] = or_null(memory.reserved);
  }

  void clocks() {
    clock(Query::sm_clock, nvml::kClockSm, gpu::sm_clock_hertz);
    clock(Query::memory_clock, nvml::kClockMemory, gpu::memory_clock_hertz);
    clock(Query::video_clock, nvml::kClockVideo, gpu::video_clock_hertz);
    row_[gpu::sm_clock_max_hertz] = or_null(d_.sm_clock_max);
    row_[gpu::memory_clock_max_hertz] = or_null(d_.memory_clock_max);
    u32 value = 0;
    if (d_.answers(sample_, Query::state, f_.nvmlDeviceGetPerformanceState, d_.handle, &value) && value < 16)
      row_[gpu::performance_state] = i64{value};
    u64 reasons = 0;
    if (!d_.answers(sample_, Query::throttle, f_.nvmlDeviceGetCurrentClocksThrottleReasons, d_.handle,
                    &reasons))
      return;
    if (reasons == ~u64{0}) return d_.quality.add(Doubt::blank);
    for (const auto& reason : kThrottle) {
      const bool is_on = (reasons & reason.bit) != 0;
      row_[reason.column] = is_on;
      if (is_on) throttle_ += (throttle_.empty() ? "" : "+") + std::string(reason.word);
    }
    row_[gpu::throttle_reasons] = or_null(throttle_);
  }

  void power_and_heat(const NvidiaFields& fields) {
    u32 value = 0;
    std::optional<double> power;
    if (d_.answers(sample_, Query::power, f_.nvmlDeviceGetPowerUsage, d_.handle, &value))
      power = d_.milliwatts(value);
    row_[gpu::power_watts] = or_null(power);
    if (d_.looks % kSlow == 0) {
      d_.power_limit.reset();
      if (d_.answers(sample_, Query::power_limit, f_.nvmlDeviceGetEnforcedPowerLimit, d_.handle, &value))
        d_.power_limit = d_.milliwatts(value);
    }
    row_[gpu::power_limit_watts] = or_null(d_.power_limit);
    energy(fields.energy_mj, power);
    if (d_.answers(sample_, Query::temperature, f_.nvmlDeviceGetTemperature, d_.handle,
                   collect::nvml::kTemperatureGpu, &value))
      row_[gpu::temperature_celsius] = or_null(d_.celsius(value));
    if (fields.memory_temperature)
      row_[gpu::memory_temperature_celsius] =
          or_null(d_.celsius(static_cast<u32>(std::min<u64>(*fields.memory_temperature, ~u32{0}))));
    if (d_.answers(sample_, Query::fan, f_.nvmlDeviceGetFanSpeed, d_.handle, &value))
      row_[gpu::fan_ratio] = or_null(d_.percent(value));
  }

  void pcie() {
    u32 value = 0;
    if (d_.answers(sample_, Query::pcie_generation, f_.nvmlDeviceGetCurrPcieLinkGeneration, d_.handle,
                   &value))
      row_[gpu::pcie_link_generation] = i64{value};
    if (d_.answers(sample_, Query::pcie_width, f_.nvmlDeviceGetCurrPcieLinkWidth, d_.handle, &value))
      row_[gpu::pcie_link_width] = i64{value};
    row_[gpu::pcie_link_generation_max] = or_null(d_.link_generation_max);
    row_[gpu::pcie_link_width_max] = or_null(d_.link_width_max);
    // The driver counts for 20 ms a direction while one waits: only where GPM does not tell.
    const auto rate = [&](Query query, u32 direction, std::optional<double> by_gpm) -> Value {
      if (d_.has_gpm) return or_null(by_gpm);
      if (!d_.answers(sample_, query, f_.nvmlDeviceGetPcieThroughput, d_.handle, direction, &value))
        return {};
      if (value == ~u32{0}) return d_.quality.add(Doubt::blank), Value();
      return value * 1024.0;
    };
    row_[gpu::pcie_tx_bytes_per_s] = rate(Query::pcie_tx, nvml::kPcieTx, d_.pcie_tx);
    row_[gpu::pcie_rx_bytes_per_s] = rate(Query::pcie_rx, nvml::kPcieRx, d_.pcie_rx);
  }

  void nvlink(const NvidiaFields& fields) {
    row_[gpu::nvlink_links] = or_null(whole(fields.links));
    if (fields.links && d_.looks % kLinks == 0) {
      i64 active = 0;
      d_.links_active.reset();
      for (u32 link = 0; link < std::min<u64>(*fields.links, kMostLinks); ++link) {
        u32 state = 0;
        if (!d_.answers(sample_, Query::nvlink_state, f_.nvmlDeviceGetNvLinkState, d_.handle, link, &state))
          continue;
        active += state == 1;
        d_.links_active = active;
      }
    }
    row_[gpu::nvlink_links_active] = or_null(d_.links_active);
    if (fields.nvlink_tx_kib) row_[gpu::nvlink_tx_bytes] = static_cast<i64>(*fields.nvlink_tx_kib * 1024);
    if (fields.nvlink_rx_kib) row_[gpu::nvlink_rx_bytes] = static_cast<i64>(*fields.nvlink_rx_kib * 1024);
    row_[gpu::nvlink_crc_errors] = or_null(sum(fields.crc_flit, fields.crc_data));
    row_[gpu::nvlink_replays] = or_null(whole(fields.replays));
    row_[gpu::nvlink_recoveries] = or_null(whole(fields.recoveries));
  }

 private:
  void clock(Query query, u32 clock, gpu::Column column) {
    u32 value = 0;
    if (d_.answers(sample_, query, f_.nvmlDeviceGetClockInfo, d_.handle, clock, &value))
      row_[column] = or_null(d_.megahertz(value));
  }

  void energy(std::optional<u64> millijoules, std::optional<double> power) {
    if (!millijoules) return;
    if (d_.energy.is_stuck(*millijoules, power.has_value(), sample_.steady))
      return d_.quality.add(Doubt::stale);
    row_[gpu::energy_joules] = static_cast<double>(*millijoules) / 1e3;
  }

  NvidiaDevice& d_;
  const NvidiaSample& sample_;
  const collect::nvml::Functions& f_;
  Row& row_;
  std::string throttle_;
};

void set_errors(Row& row, const NvidiaFields& fields) {
  const std::pair<gpu::Column, std::optional<u64>> cells[] = {
      {gpu::violation_power_ns, fields.violation_power},
      {gpu::violation_thermal_ns, fields.violation_thermal},
      {gpu::violation_sync_boost_ns, fields.violation_sync_boost},
      {gpu::violation_board_limit_ns, fields.violation_board_limit},
      {gpu::violation_low_utilization_ns, fields.violation_low_utilization},
      {gpu::violation_reliability_ns, fields.violation_reliability},
      {gpu::violation_thermal_sw_ns, fields.violation_thermal_sw},
      {gpu::violation_thermal_hw_ns, fields.violation_thermal_hw},
      {gpu::violation_power_brake_ns, fields.violation_power_brake},
      {gpu::pcie_replays, fields.pcie_replays},
      {gpu::ecc_corrected_volatile, fields.ecc_corrected_volatile},
      {gpu::ecc_uncorrected_volatile, fields.ecc_uncorrected_volatile},
      {gpu::ecc_corrected_aggregate, fields.ecc_corrected_aggregate},
      {gpu::ecc_uncorrected_aggregate, fields.ecc_uncorrected_aggregate},
      {gpu::remapped_rows_correctable, fields.remapped_correctable},
      {gpu::remapped_rows_uncorrectable, fields.remapped_uncorrectable},
      {gpu::retired_pages_corrected, fields.retired_corrected},
      {gpu::retired_pages_uncorrected, fields.retired_uncorrected},
  };
  for (const auto& [column, value] : cells) row[column] = or_null(whole(value));
  row[gpu::remap_pending] = or_null(flag(fields.remap_pending));
  row[gpu::remap_failed] = or_null(flag(fields.remap_failed));
}

void set_facts(Row& row, const NvidiaDevice& device, std::string_view driver) {
  row[gpu::gpu] = device.index;
  row[gpu::uuid] = or_null(device.uuid);
  row[gpu::name] = or_null(device.name);
  row[gpu::vendor] = std::string_view("nvidia");
  row[gpu::pci_bus_id] = or_null(device.bus_id);
  row[gpu::driver] = or_null(driver);
  row[gpu::serial] = or_null(device.serial);
  if (device.has_mig) row[gpu::mig_mode] = std::string_view(*device.has_mig ? "on" : "off");
  row[gpu::numa_node] = or_null(device.numa_node);
  set_owner(row, gpu::job, device.owner);
  row[gpu::xid_errors] = or_null(device.xid_errors);
  row[gpu::last_xid] = or_null(device.last_xid);
}

}  // namespace

GpuMemory read_memory(const collect::nvml::Functions& f, collect::nvml::Device handle, Quality& quality) {
  collect::nvml::MemoryV2 memory{};
  bool has_reserved = true;
  memory.version = collect::nvml::MemoryV2::kVersion;
  if (collect::nvml::call(f.nvmlDeviceGetMemoryInfo_v2, handle, &memory) != collect::nvml::kSuccess) {
    collect::nvml::Memory old{};
    if (collect::nvml::call(f.nvmlDeviceGetMemoryInfo, handle, &old) != collect::nvml::kSuccess) return {};
    memory.total = old.total, memory.free = old.free, memory.used = old.used;
    has_reserved = false;
  }
  constexpr u64 kMost = u64{1} << 56;
  if (memory.total == 0 || memory.total > kMost) {
    quality.add(Doubt::blank);
    return {};
  }
  GpuMemory result;
  result.total = static_cast<i64>(memory.total);
  const auto part = [&](u64 bytes) -> std::optional<i64> {
    if (bytes <= memory.total) return static_cast<i64>(bytes);
    quality.add(bytes > kMost ? Doubt::blank : Doubt::contradictory);
    return std::nullopt;
  };
  result.used = part(memory.used);
  result.free = part(memory.free);
  if (has_reserved) result.reserved = part(memory.reserved);
  return result;
}

void append_gpu(Table& table, NvidiaDevice& device, const NvidiaSample& sample, std::string_view driver,
                GpuEvents& events) {
  Row row(gpu::kColumnCount);
  Reader reader(device, sample, row);
  if (device.looks % kSlow == 0) {
    u32 current = 0, pending = 0;
    device.has_mig.reset();
    if (device.answers(sample, Query::mig, sample.f.nvmlDeviceGetMigMode, device.handle, &current, &pending))
      device.has_mig = current == 1;
  }
  reader.busy();
  reader.memory();
  reader.clocks();
  const NvidiaFields fields = read_fields(device, sample);
  reader.power_and_heat(fields);
  reader.pcie();
  reader.nvlink(fields);
  set_errors(row, fields);
  device.memory_errors.compare({whole(fields.ecc_corrected_volatile), whole(fields.ecc_uncorrected_volatile),
                                sum(fields.remapped_correctable, fields.remapped_uncorrectable),
                                sum(fields.retired_corrected, fields.retired_uncorrected)},
                               {.gpu = device.index, .uuid = device.uuid, .owner = device.owner}, events);
  ++device.looks;
  if (device.is_lost) row.assign(gpu::kColumnCount, Value());
  set_facts(row, device, driver);
  const std::string quality = device.quality.text();
  row[gpu::quality] = or_null(quality);
  table.append(row);
}

}  // namespace spotter::collect
