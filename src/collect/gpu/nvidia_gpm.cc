#include "collect/gpu/nvidia_gpm.h"

#include <algorithm>
#include <cmath>

#include "base/time.h"

namespace spotter::collect {
namespace {

constexpr Ns kShortest = 100 * kMillisecond;  // what is measured in less is noise
constexpr double kPercent = 0.01, kMebi = 1048576;

// NVML_GPM_METRIC_*: percent, and MiB/s.
constexpr struct {
  u32 id;
  gpu_activity::Column column;
  double factor;
} kMetrics[] = {
    {1, gpu_activity::graphics_active_ratio, kPercent},
    {2, gpu_activity::sm_active_ratio, kPercent},
    {3, gpu_activity::sm_occupancy_ratio, kPercent},
    {4, gpu_activity::integer_active_ratio, kPercent},
    {5, gpu_activity::tensor_active_ratio, kPercent},
    {6, gpu_activity::tensor_dfma_active_ratio, kPercent},
    {7, gpu_activity::tensor_hmma_active_ratio, kPercent},
    {8, gpu_activity::tensor_dmma_active_ratio, kPercent},
    {9, gpu_activity::tensor_imma_active_ratio, kPercent},
    {10, gpu_activity::dram_active_ratio, kPercent},
    {11, gpu_activity::fp64_active_ratio, kPercent},
    {12, gpu_activity::fp32_active_ratio, kPercent},
    {13, gpu_activity::fp16_active_ratio, kPercent},
    {20, gpu_activity::pcie_tx_bytes_per_s, kMebi},
    {21, gpu_activity::pcie_rx_bytes_per_s, kMebi},
    {60, gpu_activity::nvlink_rx_bytes_per_s, kMebi},
    {61, gpu_activity::nvlink_tx_bytes_per_s, kMebi},
};

// Null of what cannot be: counters are read at slightly different times, so that 100 % may come out as a bit
// more.
std::optional<double> believable(double value, double factor) {
  if (!std::isfinite(value) || value < 0) return std::nullopt;
  if (factor == kPercent) return value <= 101 ? std::optional(std::min(value, 100.0) * factor) : std::nullopt;
  return value < 1e8 ? std::optional(value * factor) : std::nullopt;
}

}  // namespace

collect::nvml::Return NvidiaGpm::take(NvidiaDevice& device, std::optional<u32> instance,
                                      const NvidiaSample& sample, Pair& pair) {
  const collect::nvml::Functions& f = sample.f;
  for (collect::nvml::GpmSample* one : {&pair.last, &pair.next}) {
    if (*one) continue;
    if (const collect::nvml::Return code = collect::nvml::call(f.nvmlGpmSampleAlloc, one);
        code != collect::nvml::kSuccess) {
      *one = nullptr;
      return code;
    }
  }
  return instance
             ? device.heed(collect::nvml::call(f.nvmlGpmMigSampleGet, device.handle, *instance, pair.next))
             : device.ask(sample, Query::gpm, f.nvmlGpmSampleGet, device.handle, pair.next);
}

std::optional<GpmReading> NvidiaGpm::read(NvidiaDevice& device, std::optional<u32> instance,
                                          const NvidiaSample& sample) {
  if (!device.has_gpm || device.is_lost) return std::nullopt;
  Pair& pair = pairs_[{device.index, instance ? i64{*instance} : -1}];
  if (pair.has_last && sample.steady - pair.last_at < kShortest) return std::nullopt;
  GpmReading reading;
  if (const collect::nvml::Return code = take(device, instance, sample, pair);
      code != collect::nvml::kSuccess) {
    pair.has_last = false;
    if (code != collect::nvml::kNoPermission) return std::nullopt;
    reading.quality.add(Doubt::denied);
    return reading;
  }
  std::swap(pair.last, pair.next);  // next is the older one from here on
  pair.last_at = sample.steady;
  if (!std::exchange(pair.has_last, true)) return std::nullopt;

  metrics_.count = std::size(kMetrics);
  metrics_.first = pair.next;
  metrics_.second = pair.last;
  for (size_t i = 0; i < std::size(kMetrics); ++i) metrics_.metrics[i].id = kMetrics[i].id;
  if (collect::nvml::call(sample.f.nvmlGpmMetricsGet, &metrics_) != collect::nvml::kSuccess) {
    reading.quality.add(Doubt::blank);
    return reading;
  }
  for (size_t i = 0; i < std::size(kMetrics); ++i) {
    const collect::nvml::GpmMetric& metric = metrics_.metrics[i];
    if (metric.result == collect::nvml::kNotSupported || metric.result == collect::nvml::kInvalidArgument)
      continue;
    const auto value = metric.result == collect::nvml::kSuccess ? believable(metric.value, kMetrics[i].factor)
                                                                : std::nullopt;
    if (!value) reading.quality.add(Doubt::blank);
    reading.cells[kMetrics[i].column] = value;
  }
  return reading;
}

void NvidiaGpm::clear(const collect::nvml::Functions& f) {
  for (auto& [key, pair] : pairs_) {
    for (collect::nvml::GpmSample one : {pair.last, pair.next}) {
      if (one) collect::nvml::call(f.nvmlGpmSampleFree, one);
    }
  }
  pairs_.clear();
}

}  // namespace spotter::collect
