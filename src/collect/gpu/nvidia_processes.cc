#include "collect/gpu/nvidia_processes.h"

#include <algorithm>
#include <map>

#include "collect/gpu/owner.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr u32 kFirst = 128, kMost = 16384;  // entries that the driver may fill

// Asks again with more room where there was too little.
template <class T, class Ask>
std::optional<std::vector<T>> read_list(Ask ask) {
  for (u32 room = kFirst; room <= kMost; room *= 4) {
    std::vector<T> list(room);
    u32 count = room;
    const collect::nvml::Return code = ask(list.data(), &count);
    if (code == collect::nvml::kInsufficientSize) continue;
    if (code == collect::nvml::kNotFound) return std::vector<T>();
    if (code != collect::nvml::kSuccess) return std::nullopt;
    list.resize(std::min(count, room));
    return list;
  }
  return std::nullopt;
}

std::optional<double> ratio(u32 percent) {
  return percent <= 100 ? std::optional(percent / 100.0) : std::nullopt;
}

}  // namespace

std::vector<GpuProcess> read_processes(NvidiaDevice& device, const NvidiaSample& sample,
                                       Identities* identities) {
  const collect::nvml::Functions& f = sample.f;
  std::map<u32, GpuProcess> by_pid;
  const auto add = [&](Query query, auto function, bool GpuProcess::* kind) {
    const auto list =
        read_list<collect::nvml::ProcessInfo>([&](collect::nvml::ProcessInfo* infos, u32* count) {
          return device.ask(sample, query, function, device.handle, count, infos);
        });
    if (!list) return;
    for (const collect::nvml::ProcessInfo& info : *list) {
      GpuProcess& process = by_pid[info.pid];
      // The memory of one that computes and draws is in both lists; of one in several instances it is apart.
      const bool is_same =
          process.is_compute || process.is_graphics
              ? process.instance == info.gpu_instance || info.gpu_instance == collect::nvml::kNoInstance
              : false;
      if (info.used_memory <= u64{1} << 62 && !is_same)
        process.memory = process.memory.value_or(0) + static_cast<i64>(info.used_memory);
      process.pid = info.pid;
      process.*kind = true;
      if (info.gpu_instance != collect::nvml::kNoInstance) process.instance = info.gpu_instance;
      if (info.compute_instance != collect::nvml::kNoInstance)
        process.compute_instance = info.compute_instance;
    }
  };
  add(Query::compute,
      f.nvmlDeviceGetComputeRunningProcesses_v3 ? f.nvmlDeviceGetComputeRunningProcesses_v3
                                                : f.nvmlDeviceGetComputeRunningProcesses_v2,
      &GpuProcess::is_compute);
  add(Query::graphics,
      f.nvmlDeviceGetGraphicsRunningProcesses_v3 ? f.nvmlDeviceGetGraphicsRunningProcesses_v3
                                                 : f.nvmlDeviceGetGraphicsRunningProcesses_v2,
      &GpuProcess::is_graphics);

  // Of the driver's own samples those since the last look, at first those of the last second. What did
  // nothing has none; if nobody did anything, neither had: then nothing is known.
  const u64 since = device.last_process_sample_us ? device.last_process_sample_us
                                                  : static_cast<u64>(sample.unix / 1000 - 1'000'000);
  if (by_pid.empty()) return {};
  const auto samples =
      read_list<collect::nvml::ProcessSample>([&](collect::nvml::ProcessSample* list, u32* count) {
        return device.ask(sample, Query::process_samples, f.nvmlDeviceGetProcessUtilization, device.handle,
                          list, count, since);
      });
  if (samples && !samples->empty()) {
    std::map<u32, const collect::nvml::ProcessSample*> latest;
    for (const collect::nvml::ProcessSample& one : *samples) {
      device.last_process_sample_us = std::max(device.last_process_sample_us, one.timestamp_us);
      const collect::nvml::ProcessSample*& known = latest[one.pid];
      if (!known || one.timestamp_us >= known->timestamp_us) known = &one;
    }
    for (auto& [pid, process] : by_pid) {
      const auto it = latest.find(pid);
      constexpr collect::nvml::ProcessSample kIdle{};
      const collect::nvml::ProcessSample& one = it == latest.end() ? kIdle : *it->second;
      process.sm = ratio(one.sm);
      process.memory_busy = ratio(one.memory);
      process.encoder = ratio(one.encoder);
      process.decoder = ratio(one.decoder);
    }
  }
  std::vector<GpuProcess> processes;
  for (auto& [pid, process] : by_pid) {
    if (identities) {
      identities->notice(pid);
      process.who = identities->who(pid);
    }
    processes.push_back(std::move(process));
  }
  return processes;
}

void append_processes(Table& table, const NvidiaDevice& device, const std::vector<GpuProcess>& processes) {
  for (const GpuProcess& process : processes) {
    Row row(gpu_process::kColumnCount);
    row[gpu_process::gpu] = device.index;
    row[gpu_process::pid] = process.pid;
    row[gpu_process::uuid] = or_null(device.uuid);
    row[gpu_process::type] = std::string_view(!process.is_graphics ? "compute"
                                              : process.is_compute ? "compute+graphics"
                                                                   : "graphics");
    if (process.instance) row[gpu_process::instance] = i64{*process.instance};
    set_owner(row, gpu_process::job, process.who);
    row[gpu_process::memory_bytes] = or_null(process.memory);
    row[gpu_process::sm_utilization_ratio] = or_null(process.sm);
    row[gpu_process::memory_utilization_ratio] = or_null(process.memory_busy);
    row[gpu_process::encoder_utilization_ratio] = or_null(process.encoder);
    row[gpu_process::decoder_utilization_ratio] = or_null(process.decoder);
    table.append(row);
  }
}

}  // namespace spotter::collect
