// NvidiaDevice: what is known of one GPU, and how it is asked. Whatever the driver answers, the others go on.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collect/gpu/gpu_energy.h"
#include "collect/gpu/gpu_events.h"
#include "collect/gpu/gpu_quality.h"
#include "collect/gpu/nvml_session.h"

namespace spotter::collect {

// What may be unsupported, each on its own.
enum class Query : u8 {
  utilization,
  encoder,
  decoder,
  memory,
  power,
  power_limit,
  sm_clock,
  memory_clock,
  video_clock,
  temperature,
  fan,
  state,
  throttle,
  pcie_tx,
  pcie_rx,
  pcie_generation,
  pcie_width,
  fields,
  nvlink_state,
  compute,
  graphics,
  process_samples,
  mig,
  gpm,
  count
};

// One look at all GPUs.
struct NvidiaSample {
  const collect::nvml::Functions& f;
  i64 number;  // 1 is the first
  Ns unix, steady;
};

struct NvidiaDevice {
  static constexpr i64 kAskAgain = 600;  // samples until what was not supported is asked again

  // The answer of the driver. What it did not support lately it is not asked; a lost GPU is not asked
  // anything.
  template <class... P, class... A>
  collect::nvml::Return ask(const NvidiaSample& sample, Query query, collect::nvml::Return (*function)(P...),
                            A... arguments) {
    i64& ask_at = ask_at_[static_cast<size_t>(query)];
    if (is_lost) return collect::nvml::kGpuIsLost;
    if (sample.number < ask_at) return collect::nvml::kNotSupported;
    return heed(collect::nvml::call(function, arguments...), ask_at, sample.number);
  }
  template <class... P, class... A>
  bool answers(const NvidiaSample& sample, Query query, collect::nvml::Return (*function)(P...),
               A... arguments) {
    return ask(sample, query, function, arguments...) == collect::nvml::kSuccess;
  }
  // Draws the consequences of a code: is_lost, quality.
  collect::nvml::Return heed(collect::nvml::Return code);

  // A driver's placeholder for what it does not know is null, and the quality blank.
  std::optional<double> percent(u32 value);  // as a ratio
  std::optional<i64> megahertz(u32 value);   // in Hz
  std::optional<double> celsius(u32 value);
  std::optional<double> milliwatts(u32 value);  // in W

  // What does not change while NVML runs. Forgets what was not supported.
  void begin(const collect::nvml::Functions& f, const Host& host, collect::nvml::Device new_handle);

  i64 index = 0;
  collect::nvml::Device handle = nullptr;
  bool is_lost = false;  // until NVML, begun anew, finds it
  bool has_gpm = false;
  std::string uuid, name, serial, bus_id;
  std::optional<i64> numa_node, sm_clock_max, memory_clock_max, link_generation_max, link_width_max;

  // Read now and then only.
  i64 looks = 0;                // since it began
  std::optional<bool> has_mig;  // whether it is divided now; null: it cannot be
  std::optional<double> power_limit;
  std::optional<i64> links_active;
  std::vector<u32> fields_unsupported;

  Quality quality;                         // of this sample
  std::optional<double> utilization;       // likewise
  std::optional<double> pcie_tx, pcie_rx;  // likewise, by GPM, in bytes a second
  Who owner;                               // likewise
  MemoryErrors memory_errors;
  std::optional<i64> xid_errors, last_xid;  // null while XIDs are not heard
  std::map<i64, i64> errors_by_xid;
  EnergyWatch energy;
  u64 last_process_sample_us = 0;

 private:
  collect::nvml::Return heed(collect::nvml::Return code, i64& ask_at, i64 sample);

  std::array<i64, static_cast<size_t>(Query::count)> ask_at_{};
};

}  // namespace spotter::collect
