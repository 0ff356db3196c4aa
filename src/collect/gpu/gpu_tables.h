// The tables about GPUs, whoever fills them: nvidia, dcgm, amd. Each list of columns is an enumeration, too,
// so that a row is filled by name: row[gpu::power_watts] = 700.0.
//
// The index of a GPU is that of its vendor's library (NVML), and stays with its UUID while the agent runs;
// AMD's follow NVIDIA's where a machine has both.
#pragma once
#include <vector>

#include "collect/collector.h"

namespace spotter::collect {

using Row = std::vector<Value>;

#define SPOTTER_OWNER_COLUMNS(X)                                                           \
  X(job, text, none, detail, "Job of the processes on it, if all are of one.")             \
  X(rank, integer, none, detail, "Rank of the process on it, if there is one.")            \
  X(user, text, none, detail, "User of the processes on it, if all are of one.")           \
  X(container, text, none, detail, "Container of the processes on it, if all are in one.") \
  X(pod, text, none, detail, "Kubernetes pod of the processes on it, if all are in one.")  \
  X(pod_namespace, text, none, detail, "Namespace of the pod.")

#define SPOTTER_GPU_COLUMNS(X)                                                                               \
  X(gpu, integer, none, key, "Index of the GPU.")                                                            \
  X(uuid, text, none, detail, "The GPU's own name, the same in every tool.")                                 \
  X(name, text, none, detail, "Product.")                                                                    \
  X(vendor, text, none, detail, "nvidia or amd.")                                                            \
  X(pci_bus_id, text, none, detail, "Address on the PCI bus.")                                               \
  X(driver, text, none, detail, "Version of the driver.")                                                    \
  X(serial, text, none, detail, "Serial number of the board.")                                               \
  X(mig_mode, text, none, detail,                                                                            \
    "on where the GPU is divided into instances (MIG), off where it could be.")                              \
  X(numa_node, integer, none, detail, "NUMA node of its PCI slot.")                                          \
  X(quality, text, none, detail,                                                                             \
    "Why numbers are null or doubtful: lost, blank, stale, contradictory, denied; null: no doubt.")          \
  SPOTTER_OWNER_COLUMNS(X)                                                                                   \
  X(utilization_ratio, real, ratio, value,                                                                   \
    "Part of the last sampling time of the driver in which a kernel ran, however small it was.")             \
  X(memory_utilization_ratio, real, ratio, value, "Part of that time in which memory was read or written.")  \
  X(encoder_utilization_ratio, real, ratio, value, "Part of the time in which the video encoder was busy.")  \
  X(decoder_utilization_ratio, real, ratio, value, "Part of the time in which the video decoder was busy.")  \
  X(memory_total_bytes, integer, bytes, value, "Device memory.")                                             \
  X(memory_used_bytes, integer, bytes, value, "Device memory in use, without what is reserved.")             \
  X(memory_free_bytes, integer, bytes, value, "Device memory that is free.")                                 \
  X(memory_reserved_bytes, integer, bytes, value, "Device memory that driver and firmware keep.")            \
  X(power_watts, real, watts, value, "Power drawn by the board, as the driver averages it.")                 \
  X(power_limit_watts, real, watts, value, "Power that the board may draw.")                                 \
  X(energy_joules, real, joules, counter, "Energy since the driver was loaded.")                             \
  X(sm_clock_hertz, integer, hertz, value, "Clock of the processors.")                                       \
  X(memory_clock_hertz, integer, hertz, value, "Clock of the memory.")                                       \
  X(video_clock_hertz, integer, hertz, value, "Clock of the video engines.")                                 \
  X(sm_clock_max_hertz, integer, hertz, value, "Highest clock of the processors.")                           \
  X(memory_clock_max_hertz, integer, hertz, value, "Highest clock of the memory.")                           \
  X(temperature_celsius, real, celsius, value, "Temperature of the processor.")                              \
  X(hotspot_temperature_celsius, real, celsius, value, "Temperature of its hottest place.")                  \
  X(memory_temperature_celsius, real, celsius, value, "Temperature of the memory.")                          \
  X(fan_ratio, real, ratio, value, "Speed of the fan, of its highest.")                                      \
  X(performance_state, integer, none, value, "Performance state: 0 is the fastest, 15 the slowest.")         \
  X(throttle_reasons, text, none, value, "Why the clocks are below their highest, words joined by +.")       \
  X(throttle_idle, flag, none, value, "The clocks are low because nothing runs.")                            \
  X(throttle_application_clocks, flag, none, value, "The clocks are low because somebody set them so.")      \
  X(throttle_power_cap, flag, none, value, "The clocks are low because of the power limit.")                 \
  X(throttle_hw_slowdown, flag, none, value,                                                                 \
    "The hardware halves the clocks or worse: heat or power brake.")                                         \
  X(throttle_sync_boost, flag, none, value, "The clocks wait for those of another GPU of the group.")        \
  X(throttle_thermal_sw, flag, none, value, "The driver lowers the clocks because of heat.")                 \
  X(throttle_thermal_hw, flag, none, value, "The hardware lowers the clocks because of heat.")               \
  X(throttle_power_brake, flag, none, value, "The machine's power supply asks for less (power brake).")      \
  X(throttle_display_clock, flag, none, value, "The clocks are low because of a display.")                   \
  X(throttle_board_limit, flag, none, value, "The clocks are low because of a limit of the board.")          \
  X(throttle_reliability, flag, none, value, "The clocks are low to keep the voltage safe.")                 \
  X(violation_power_ns, integer, ns, counter, "Time with clocks lowered by the power limit.")                \
  X(violation_thermal_ns, integer, ns, counter, "Time with clocks lowered by heat.")                         \
  X(violation_sync_boost_ns, integer, ns, counter, "Time with clocks lowered for another GPU.")              \
  X(violation_board_limit_ns, integer, ns, counter, "Time with clocks lowered by a limit of the board.")     \
  X(violation_low_utilization_ns, integer, ns, counter, "Time with clocks lowered for lack of work.")        \
  X(violation_reliability_ns, integer, ns, counter, "Time with clocks lowered to keep the voltage safe.")    \
  X(violation_thermal_sw_ns, integer, ns, counter,                                                           \
    "Time with clocks lowered by the driver because of heat.")                                               \
  X(violation_thermal_hw_ns, integer, ns, counter,                                                           \
    "Time with clocks lowered by the hardware because of heat.")                                             \
  X(violation_power_brake_ns, integer, ns, counter, "Time with clocks lowered by the power brake.")          \
  X(pcie_tx_bytes_per_s, real, bytes_per_s, value, "Sent over PCIe.")                                        \
  X(pcie_rx_bytes_per_s, real, bytes_per_s, value, "Received over PCIe.")                                    \
  X(pcie_link_generation, integer, none, value, "Generation of PCIe now.")                                   \
  X(pcie_link_generation_max, integer, none, value, "Highest generation of PCIe that GPU and slot have.")    \
  X(pcie_link_width, integer, count, value, "Lanes of PCIe now.")                                            \
  X(pcie_link_width_max, integer, count, value, "Most lanes of PCIe that GPU and slot have.")                \
  X(pcie_replays, integer, count, counter, "Packets that were sent again over PCIe.")                        \
  X(ecc_corrected_volatile, integer, count, counter, "Memory errors corrected since the driver was loaded.") \
  X(ecc_uncorrected_volatile, integer, count, counter,                                                       \
    "Memory errors not corrected since the driver was loaded.")                                              \
  X(ecc_corrected_aggregate, integer, count, counter, "Memory errors corrected in the GPU's life.")          \
  X(ecc_uncorrected_aggregate, integer, count, counter, "Memory errors not corrected in the GPU's life.")    \
  X(remapped_rows_correctable, integer, count, counter, "Memory rows replaced after corrected errors.")      \
  X(remapped_rows_uncorrectable, integer, count, counter,                                                    \
    "Memory rows replaced after errors not corrected.")                                                      \
  X(remap_pending, flag, none, value, "A memory row is replaced at the next reset.")                         \
  X(remap_failed, flag, none, value, "A memory row could not be replaced: the GPU has to go.")               \
  X(retired_pages_corrected, integer, count, counter, "Memory pages retired after many corrected errors.")   \
  X(retired_pages_uncorrected, integer, count, counter, "Memory pages retired after errors not corrected.")  \
  X(nvlink_links, integer, count, value, "NVLink links that the GPU has.")                                   \
  X(nvlink_links_active, integer, count, value, "NVLink links that are up.")                                 \
  X(nvlink_tx_bytes, integer, bytes, counter, "Data sent over all NVLink links.")                            \
  X(nvlink_rx_bytes, integer, bytes, counter, "Data received over all NVLink links.")                        \
  X(nvlink_crc_errors, integer, count, counter, "Checksums that were wrong on NVLink.")                      \
  X(nvlink_replays, integer, count, counter, "Packets that were sent again over NVLink.")                    \
  X(nvlink_recoveries, integer, count, counter, "Times a link of NVLink had to be trained anew.")            \
  X(xid_errors, integer, count, counter, "XID errors that the driver reported since the agent began.",       \
    Since::agent)                                                                                            \
  X(last_xid, integer, none, value, "Number of the last of them.")

#define SPOTTER_GPU_ACTIVITY_COLUMNS(X)                                                                    \
  X(gpu, integer, none, key, "Index of the GPU.")                                                          \
  X(uuid, text, none, detail, "The GPU's own name, the same in every tool.")                               \
  X(source, text, none, detail, "gpm (NVML, holds no lock) or dcgm (profiling counters).")                 \
  X(quality, text, none, detail,                                                                           \
    "Why numbers are null or doubtful: blank, stale, contradictory, multiplexed, paused; null: no doubt.") \
  SPOTTER_OWNER_COLUMNS(X)                                                                                 \
  X(graphics_active_ratio, real, ratio, value, "Part of the time in which any kernel ran.")                \
  X(sm_active_ratio, real, ratio, value, "Part of the time in which an SM had a warp, averaged over SMs.") \
  X(sm_occupancy_ratio, real, ratio, value, "Warps on an SM, of the most that it takes, averaged.")        \
  X(tensor_active_ratio, real, ratio, value, "Part of the time in which the tensor pipes worked.")         \
  X(tensor_hmma_active_ratio, real, ratio, value, "Part of the time in FP16 and BF16 on tensor pipes.")    \
  X(tensor_imma_active_ratio, real, ratio, value, "Part of the time in integers on tensor pipes.")         \
  X(tensor_dmma_active_ratio, real, ratio, value, "Part of the time in DMMA on tensor pipes.")             \
  X(tensor_dfma_active_ratio, real, ratio, value, "Part of the time in FP64 (DFMA) on tensor pipes.")      \
  X(fp64_active_ratio, real, ratio, value, "Part of the time in which the FP64 pipes worked.")             \
  X(fp32_active_ratio, real, ratio, value, "Part of the time in which the FP32 pipes worked.")             \
  X(fp16_active_ratio, real, ratio, value, "Part of the time in which the FP16 pipes worked.")             \
  X(integer_active_ratio, real, ratio, value, "Part of the time in which the integer pipes worked.")       \
  X(dram_active_ratio, real, ratio, value, "Part of the time in which device memory sent or received.")    \
  X(nvlink_tx_bytes_per_s, real, bytes_per_s, value, "Sent over all NVLink links.")                        \
  X(nvlink_rx_bytes_per_s, real, bytes_per_s, value, "Received over all NVLink links.")                    \
  X(pcie_tx_bytes_per_s, real, bytes_per_s, value, "Sent over PCIe.")                                      \
  X(pcie_rx_bytes_per_s, real, bytes_per_s, value, "Received over PCIe.")

#define SPOTTER_GPU_PROCESS_COLUMNS(X)                                                                     \
  X(gpu, integer, none, key, "Index of the GPU.")                                                          \
  X(pid, integer, none, key, "Process on the GPU.")                                                        \
  X(uuid, text, none, detail, "The GPU's own name.")                                                       \
  X(type, text, none, detail, "compute, graphics or compute+graphics.")                                    \
  X(instance, integer, none, detail, "GPU instance (MIG) that it is in.")                                  \
  SPOTTER_OWNER_COLUMNS(X)                                                                                 \
  X(memory_bytes, integer, bytes, value, "Device memory of the process.")                                  \
  X(sm_utilization_ratio, real, ratio, value, "Part of the time in which a kernel of it ran.")             \
  X(memory_utilization_ratio, real, ratio, value, "Part of the time in which it used device memory.")      \
  X(encoder_utilization_ratio, real, ratio, value, "Part of the time in which it used the video encoder.") \
  X(decoder_utilization_ratio, real, ratio, value, "Part of the time in which it used the video decoder.")

#define SPOTTER_GPU_MIG_COLUMNS(X)                                                                           \
  X(gpu, integer, none, key, "Index of the GPU.")                                                            \
  X(instance, integer, none, key, "GPU instance.")                                                           \
  X(compute_instance, integer, none, key, "Compute instance within it.")                                     \
  X(uuid, text, none, detail, "The instance's own name, the same in every tool.")                            \
  X(quality, text, none, detail, "Why numbers are null or doubtful; null: no doubt.")                        \
  SPOTTER_OWNER_COLUMNS(X)                                                                                   \
  X(multiprocessors, integer, count, value, "SMs of the compute instance.")                                  \
  X(memory_total_bytes, integer, bytes, value, "Device memory of the GPU instance.")                         \
  X(memory_used_bytes, integer, bytes, value, "Device memory in use.")                                       \
  X(memory_free_bytes, integer, bytes, value, "Device memory that is free.")                                 \
  X(graphics_active_ratio, real, ratio, value, "Of the GPU instance: part of the time with any kernel.")     \
  X(sm_active_ratio, real, ratio, value, "Of the GPU instance: part of the time in which an SM had a warp.") \
  X(sm_occupancy_ratio, real, ratio, value, "Of the GPU instance: warps on an SM, of the most it takes.")    \
  X(tensor_active_ratio, real, ratio, value, "Of the GPU instance: part of the time in tensor pipes.")       \
  X(dram_active_ratio, real, ratio, value, "Of the GPU instance: part of the time in device memory.")

#define SPOTTER_GPU_JOB_COLUMNS(X)                                                        \
  X(gpu, integer, none, key, "Index of the GPU.")                                         \
  X(job, text, none, key, "Job of the scheduler or launcher; none: processes of no job.") \
  X(rank, integer, none, key, "Rank in the job.")                                         \
  X(user, text, none, key, "Whose processes they are.")                                   \
  X(container, text, none, key, "Container: the first digits of its id.")                 \
  X(pod, text, none, key, "Pod of Kubernetes.")                                           \
  X(pod_namespace, text, none, key, "Namespace of the pod.")                              \
  X(uuid, text, none, detail, "The GPU's own name.")                                      \
  X(processes, integer, count, value, "Processes on the GPU.")                            \
  X(memory_bytes, integer, bytes, value, "Device memory of these processes.")

#define SPOTTER_GPU_XID_COLUMNS(X)                            \
  X(gpu, integer, none, key, "Index of the GPU.")             \
  X(xid, integer, none, key, "Number of the XID error.")      \
  X(uuid, text, none, detail, "The GPU's own name.")          \
  X(severity, text, none, detail, "info, error or critical.") \
  X(meaning, text, none, detail, "What it means.")            \
  X(occurrences, integer, count, counter, "Errors of this number since the agent began.", Since::agent)

#define SPOTTER_GPU_EVENT_COLUMNS(X)                                                           \
  X(time_ns, integer, ns, time, "When it was noticed, since 1970.")                            \
  X(gpu, integer, none, key, "Index of the GPU.")                                              \
  X(event, text, none, key,                                                                    \
    "xid, ecc_corrected, ecc_uncorrected, row_remapped, page_retired, lost or returned.")      \
  X(uuid, text, none, detail, "The GPU's own name.")                                           \
  X(instance, integer, none, detail, "GPU instance (MIG) that it is about.")                   \
  X(job, text, none, detail, "Job that was on the GPU at the sample before.")                  \
  X(rank, integer, none, detail, "Its rank there.")                                            \
  X(user, text, none, detail, "Its user.")                                                     \
  X(xid, integer, none, value, "Number of the XID error.")                                     \
  X(count, integer, count, value, "How many since the sample before.")                         \
  X(severity, text, none, detail, "info, error or critical: for the process, or for the GPU.") \
  X(meaning, text, none, detail, "What it means.")

#define SPOTTER_ENUMERATOR(name, ...) name,
#define SPOTTER_FIELD(name, type, unit, role, ...) {#name, Type::type, Unit::unit, Role::role, __VA_ARGS__},
#define SPOTTER_COLUMNS(space, LIST)                              \
  namespace space {                                               \
  enum Column : size_t { LIST(SPOTTER_ENUMERATOR) kColumnCount }; \
  inline constexpr Field kFields[] = {LIST(SPOTTER_FIELD)};       \
  }

SPOTTER_COLUMNS(gpu, SPOTTER_GPU_COLUMNS)
SPOTTER_COLUMNS(gpu_activity, SPOTTER_GPU_ACTIVITY_COLUMNS)
SPOTTER_COLUMNS(gpu_process, SPOTTER_GPU_PROCESS_COLUMNS)
SPOTTER_COLUMNS(gpu_job, SPOTTER_GPU_JOB_COLUMNS)
SPOTTER_COLUMNS(gpu_mig, SPOTTER_GPU_MIG_COLUMNS)
SPOTTER_COLUMNS(gpu_xid, SPOTTER_GPU_XID_COLUMNS)
SPOTTER_COLUMNS(gpu_event, SPOTTER_GPU_EVENT_COLUMNS)

#undef SPOTTER_COLUMNS
#undef SPOTTER_FIELD
#undef SPOTTER_ENUMERATOR

// The tables of a collector whose numbers come from `source`.
constexpr TableKind gpu_table(const char* source) { return {"gpu", source, "A GPU.", gpu::kFields}; }
constexpr TableKind gpu_activity_table(const char* source) {
  return {"gpu_activity", source, "What a GPU's parts do, measured by the hardware since the sample before.",
          gpu_activity::kFields};
}
constexpr TableKind gpu_process_table(const char* source) {
  return {"gpu_process", source, "A process on a GPU.", gpu_process::kFields};
}
constexpr TableKind gpu_job_table(const char* source) {
  return {"gpu_job", source, "The processes of one rank of a job on one GPU; two jobs may share a GPU.",
          gpu_job::kFields};
}
constexpr TableKind gpu_xid_table(const char* source) {
  return {"gpu_xid", source, "XID errors of one number on a GPU.", gpu_xid::kFields};
}
constexpr TableKind gpu_mig_table(const char* source) {
  return {"gpu_mig", source, "An instance that a GPU is divided into (MIG).", gpu_mig::kFields};
}
constexpr TableKind gpu_event_table(const char* source) {
  return {.name = "gpu_event",
          .source = source,
          .help = "Something that happened to a GPU.",
          .columns = gpu_event::kFields,
          .is_events = true};
}

}  // namespace spotter::collect
