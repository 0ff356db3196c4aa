// amd: AMD's GPUs, by amd-smi where it is there and by /sys: what amd-smi does not tell, or tells differently
// from release to release, the kernel's driver does.
#include <algorithm>

#include "base/system/file.h"
#include "collect/gpu/amd_smi.h"
#include "collect/gpu/amd_sysfs.h"
#include "collect/gpu/gpu_energy.h"
#include "collect/gpu/gpu_events.h"
#include "collect/gpu/gpu_jobs.h"
#include "collect/gpu/gpu_quality.h"
#include "collect/gpu/owner.h"
#include "collect/list.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr TableKind kTables[] = {
    gpu_table("amd-smi, /sys/class/drm"),
    gpu_process_table("/sys/class/kfd"),
    gpu_job_table("/sys/class/kfd"),
    gpu_event_table("amd-smi, /sys/class/drm"),
};

enum class SmiQuery : u8 { activity, total, used, edge, hotspot, memory_temperature, energy, errors, count };

struct AmdGpu {
  i64 index = 0;
  std::optional<AmdSysfsGpu> sysfs;
  std::optional<AmdSmiGpu> smi;
  std::string bus_id, uuid;
  bool is_lost = false;
  Quality quality;  // of this sample
  Who owner;        // likewise
  EnergyWatch energy;
  MemoryErrors memory_errors;
  std::array<i64, static_cast<size_t>(SmiQuery::count)> ask_at = {};
};

class Amd : public Collector {
 public:
  Amd(const Surroundings& s, std::unique_ptr<AmdSmi> smi, std::vector<AmdGpu> gpus)
      : host_(s.host), identities_(s.identities), smi_(std::move(smi)), gpus_(std::move(gpus)) {
    const auto version = read_small_file(host_.sys + "/module/amdgpu/version", 256);
    if (version) driver_ = version->substr(0, version->find('\n'));
  }

  Result<std::vector<Table>> sample() override {
    ++number_;
    auto processes = read_amd_processes(host_);
    Table all("gpu", gpu::kFields), on_them("gpu_process", gpu_process::kFields);
    for (AmdGpu& gpu : gpus_) append(all, on_them, gpu, processes[gpu.bus_id]);
    note_lost_gpus(all, std::ranges::count_if(gpus_, &AmdGpu::is_lost), gpus_.size());
    std::vector<Table> tables;
    tables.push_back(std::move(all));
    Table jobs = gpu_jobs(on_them);
    for (Table* table : {&on_them, &jobs}) {
      if (table->rows() > 0) tables.push_back(std::move(*table));
    }
    if (!events_.empty()) tables.push_back(events_.take(host_.unix_now()));
    return tables;
  }

 private:
  void append(Table& all, Table& on_them, AmdGpu& gpu, const std::vector<AmdProcess>& processes) {
    gpu.quality = {};
    AmdReading reading = gpu.sysfs ? gpu.sysfs->read() : AmdReading();
    if (reading.is_lost != gpu.is_lost) {
      gpu.is_lost = reading.is_lost;
      const bool is_lost = gpu.is_lost;
      events_.add({.event = is_lost ? "lost" : "returned",
                   .gpu = gpu.index,
                   .uuid = gpu.uuid,
                   .owner = gpu.owner,
                   .count = 1,
                   .severity = is_lost ? "critical" : "info",
                   .meaning = is_lost ? "the GPU does not answer any more" : "the GPU answers again"});
    }
    Row row(gpu::kColumnCount);
    if (gpu.is_lost) {
      gpu.quality.add(Doubt::lost);
    } else {
      append_processes(on_them, gpu, processes);
      set_numbers(row, gpu, reading);
    }
    set_facts(row, gpu);
    const std::string quality = gpu.quality.text();
    row[gpu::quality] = or_null(quality);
    all.append(row);
  }

  // An answer of amd-smi; false where it has none.
  template <class... P, class... A>
  bool ask(AmdGpu& gpu, SmiQuery query, amdsmi::Status (*function)(P...), A... arguments) {
    constexpr i64 kAskAgain = 600;  // samples
    i64& ask_at = gpu.ask_at[static_cast<size_t>(query)];
    if (!smi_ || !gpu.smi || number_ < ask_at) return false;
    const amdsmi::Status status = amdsmi::call(function, gpu.smi->handle, arguments...);
    if (status == amdsmi::kNotSupported || status == amdsmi::kNotYetImplemented ||
        status == amdsmi::kFunctionNotFound)
      ask_at = number_ + kAskAgain;
    if (status == amdsmi::kNoPermission) gpu.quality.add(Doubt::denied);
    return status == amdsmi::kSuccess;
  }

  // Puts amd-smi's answers in the place of the kernel's.
  void ask_smi(AmdGpu& gpu, AmdReading& reading) {
    if (!smi_) return;
    const amdsmi::Functions& f = smi_->f;
    amdsmi::Activity activity{};
    if (ask(gpu, SmiQuery::activity, f.amdsmi_get_gpu_activity, &activity)) {
      reading.busy = activity.graphics;
      reading.memory_busy = activity.memory;
    }
    u64 bytes = 0;
    const auto memory = [&](SmiQuery query, auto function, std::optional<i64>& value) {
      if (ask(gpu, query, function, amdsmi::kVram, &bytes) && bytes < u64{1} << 56)
        value = static_cast<i64>(bytes);
    };
    memory(SmiQuery::total, f.amdsmi_get_gpu_memory_total, reading.memory_total);
    memory(SmiQuery::used, f.amdsmi_get_gpu_memory_usage, reading.memory_used);
    i64 celsius = 0;
    const auto temperature = [&](SmiQuery query, u32 sensor, std::optional<i64>& value) {
      // In degrees; in thousandths of them, as the kernel's, by rocm-smi below it.
      if (ask(gpu, query, f.amdsmi_get_temp_metric, sensor, amdsmi::kCurrent, &celsius) &&
          celsius < 1'000'000)
        value = celsius < 1000 ? celsius * 1000 : celsius;
    };
    temperature(SmiQuery::edge, amdsmi::kEdge, reading.temperature);
    temperature(SmiQuery::hotspot, amdsmi::kHotspot, reading.hotspot_temperature);
    temperature(SmiQuery::memory_temperature, amdsmi::kVramTemperature, reading.memory_temperature);
    u64 count = 0, time = 0;
    float microjoules = 0;
    if (ask(gpu, SmiQuery::energy, f.amdsmi_get_energy_count, &count, &microjoules, &time) &&
        microjoules > 0 && static_cast<double>(count) * microjoules < 9e18)
      reading.energy = static_cast<i64>(static_cast<double>(count) * microjoules);
    amdsmi::ErrorCount errors{};
    if (ask(gpu, SmiQuery::errors, f.amdsmi_get_gpu_total_ecc_count, &errors) &&
        errors.correctable < 1ull << 62 && errors.uncorrectable < 1ull << 62) {
      reading.corrected = static_cast<i64>(errors.correctable);
      reading.uncorrected = static_cast<i64>(errors.uncorrectable);
    }
  }

  void set_numbers(Row& row, AmdGpu& gpu, AmdReading& reading) {
    ask_smi(gpu, reading);
    Quality& quality = gpu.quality;
    // Null of what cannot be: a placeholder.
    const auto real = [&](std::optional<i64> value, i64 least, i64 most, double per) -> Value {
      if (!value) return {};
      if (*value < least || *value > most) return quality.add(Doubt::blank), Value();
      return static_cast<double>(*value) / per;
    };
    row[gpu::utilization_ratio] = real(reading.busy, 0, 100, 100);
    row[gpu::memory_utilization_ratio] = real(reading.memory_busy, 0, 100, 100);
    row[gpu::power_watts] = real(reading.power, 1, 100'000'000'000, 1e6);
    row[gpu::power_limit_watts] = real(reading.power_limit, 1, 100'000'000'000, 1e6);
    const bool has_hotspot_only = !reading.temperature;
    row[gpu::temperature_celsius] =
        real(has_hotspot_only ? reading.hotspot_temperature : reading.temperature, 1, 200'000, 1e3);
    row[gpu::hotspot_temperature_celsius] = real(reading.hotspot_temperature, 1, 200'000, 1e3);
    row[gpu::memory_temperature_celsius] = real(reading.memory_temperature, 1, 200'000, 1e3);
    set_memory(row, gpu, reading);
    if (reading.energy) {
      if (gpu.energy.is_stuck(static_cast<u64>(*reading.energy), !is_null(row[gpu::power_watts]),
                              host_.steady_now()))
        quality.add(Doubt::stale);
      else
        row[gpu::energy_joules] = static_cast<double>(*reading.energy) / 1e6;
    }
    row[gpu::sm_clock_hertz] = or_null(reading.sm_clock);
    row[gpu::memory_clock_hertz] = or_null(reading.memory_clock);
    if (reading.fan && reading.fan_max && *reading.fan_max > 0)
      row[gpu::fan_ratio] =
          std::min(1.0, static_cast<double>(*reading.fan) / static_cast<double>(*reading.fan_max));
    row[gpu::pcie_link_generation] = or_null(reading.link_generation);
    row[gpu::pcie_link_width] = or_null(reading.link_width);
    row[gpu::pcie_replays] = or_null(reading.pcie_replays);
    row[gpu::ecc_corrected_volatile] = or_null(reading.corrected);
    row[gpu::ecc_uncorrected_volatile] = or_null(reading.uncorrected);
    gpu.memory_errors.compare({reading.corrected, reading.uncorrected, std::nullopt, std::nullopt},
                              {.gpu = gpu.index, .uuid = gpu.uuid, .owner = gpu.owner}, events_);
  }

  static void set_memory(Row& row, AmdGpu& gpu, const AmdReading& reading) {
    if (!reading.memory_total || *reading.memory_total <= 0) return;
    row[gpu::memory_total_bytes] = *reading.memory_total;
    if (!reading.memory_used) return;
    if (*reading.memory_used < 0 || *reading.memory_used > *reading.memory_total)
      return gpu.quality.add(Doubt::contradictory);
    row[gpu::memory_used_bytes] = *reading.memory_used;
    row[gpu::memory_free_bytes] = *reading.memory_total - *reading.memory_used;
  }

  void set_facts(Row& row, const AmdGpu& gpu) const {
    row[gpu::gpu] = gpu.index;
    row[gpu::uuid] = or_null(gpu.uuid);
    row[gpu::vendor] = std::string_view("amd");
    row[gpu::pci_bus_id] = or_null(gpu.bus_id);
    row[gpu::driver] = or_null(driver_);
    if (gpu.smi) row[gpu::name] = or_null(gpu.smi->name);
    set_owner(row, gpu::job, gpu.owner);
    if (!gpu.sysfs) return;
    if (is_null(row[gpu::name])) row[gpu::name] = or_null(gpu.sysfs->name);
    row[gpu::serial] = or_null(gpu.sysfs->serial);
    row[gpu::numa_node] = or_null(gpu.sysfs->numa_node);
    if (gpu.is_lost) return;
    row[gpu::sm_clock_max_hertz] = or_null(gpu.sysfs->sm_clock_max);
    row[gpu::memory_clock_max_hertz] = or_null(gpu.sysfs->memory_clock_max);
    row[gpu::pcie_link_generation_max] = or_null(gpu.sysfs->link_generation_max);
    row[gpu::pcie_link_width_max] = or_null(gpu.sysfs->link_width_max);
  }

  void append_processes(Table& table, AmdGpu& gpu, const std::vector<AmdProcess>& processes) {
    std::vector<Who> all;
    for (const AmdProcess& process : processes) {
      if (identities_) identities_->notice(process.pid);
      const Who who = identities_ ? identities_->who(process.pid) : Who();
      Row row(gpu_process::kColumnCount);
      row[gpu_process::gpu] = gpu.index;
      row[gpu_process::pid] = process.pid;
      row[gpu_process::uuid] = or_null(gpu.uuid);
      row[gpu_process::type] = std::string_view("compute");
      set_owner(row, gpu_process::job, who);
      row[gpu_process::memory_bytes] = process.memory;
      table.append(row);
      all.push_back(who);
    }
    gpu.owner = owner_of(all);
  }

  Host host_;
  std::shared_ptr<Identities> identities_;
  std::unique_ptr<AmdSmi> smi_;  // none: only /sys tells
  std::string driver_;
  std::vector<AmdGpu> gpus_;
  GpuEvents events_;
  i64 number_ = 0;
};

// Those of /sys, and those that only amd-smi lists; by address on the bus.
std::vector<AmdGpu> find_gpus(const Host& host, const AmdSmi* smi) {
  std::vector<AmdGpu> gpus;
  for (AmdSysfsGpu& sysfs : find_amd_gpus(host)) {
    AmdGpu& gpu = gpus.emplace_back();
    gpu.bus_id = sysfs.bus_id;
    gpu.sysfs = std::move(sysfs);
  }
  for (AmdSmiGpu& listed : smi ? smi->gpus() : std::vector<AmdSmiGpu>()) {
    auto it = std::ranges::find(gpus, listed.bus_id, &AmdGpu::bus_id);
    if (it == gpus.end()) {
      gpus.emplace_back().bus_id = listed.bus_id;
      it = std::prev(gpus.end());
    }
    if (!it->smi) it->smi = std::move(listed);  // partitions have one address
  }
  std::ranges::sort(gpus, {}, &AmdGpu::bus_id);
  // NVIDIA's come first where a machine has both.
  i64 index = static_cast<i64>(names_in(host.proc + "/driver/nvidia/gpus").size());
  for (AmdGpu& gpu : gpus) {
    gpu.index = index++;
    const std::string unique = gpu.sysfs ? gpu.sysfs->unique_id : "";
    // As ROCm writes it; only GPUs for machines have one.
    if (!unique.empty())
      gpu.uuid = "GPU-" + unique.substr(unique.starts_with("0x") ? 2 : 0);
    else if (gpu.smi)
      gpu.uuid = gpu.smi->uuid;
  }
  return gpus;
}

Result<std::unique_ptr<Collector>> open(const Surroundings& s) {
  if (find_amd_gpus(s.host).empty() && names_in(s.host.sys + "/module/amdgpu").empty())
    return fail(Code::not_found, "there is no AMD GPU with the driver amdgpu on this machine");
  Result<std::unique_ptr<AmdSmi>> smi = AmdSmi::open(s.host);
  std::vector<AmdGpu> gpus = find_gpus(s.host, smi ? smi->get() : nullptr);
  if (gpus.empty()) return fail(Code::not_found, "AMD's driver amdgpu is loaded, but has no GPU");
  return std::make_unique<Amd>(s, smi ? std::move(*smi) : nullptr, std::move(gpus));
}

}  // namespace

const CollectorKind kAmd = {
    .name = "amd",
    .help = "AMD's GPUs, by amd-smi and /sys.",
    .period = kSecond,
    .may_block = true,
    .tables = kTables,
    .open = open,
};

}  // namespace spotter::collect
