// nvidia: NVIDIA's GPUs by NVML, which comes with the driver: utilisation, memory, power, heat, clocks,
// links, errors; on Hopper and newer also what their parts do (GPM). Takes no profiling lock.
#include <algorithm>
#include <utility>

#include "base/time.h"
#include "collect/gpu/gpu_jobs.h"
#include "collect/gpu/nvidia_events.h"
#include "collect/gpu/nvidia_gpm.h"
#include "collect/gpu/nvidia_gpu.h"
#include "collect/gpu/nvidia_mig.h"
#include "collect/gpu/nvidia_processes.h"
#include "collect/gpu/owner.h"
#include "collect/gpu/xid.h"
#include "collect/list.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr Ns kRestart = kMinute;  // between two attempts to find GPUs that are lost
constexpr u32 kMostGpus = 256;
constexpr std::string_view kLost = "the GPU does not answer any more";

constexpr TableKind kTables[] = {
    gpu_table("NVML"),     gpu_activity_table("NVML GPM"), gpu_process_table("NVML"), gpu_job_table("NVML"),
    gpu_mig_table("NVML"), gpu_xid_table("NVML"),          gpu_event_table("NVML"),
};

class Nvidia : public Collector {
 public:
  Nvidia(const Surroundings& s, std::unique_ptr<NvmlSession> nvml)
      : host_(s.host), identities_(s.identities), nvml_(std::move(nvml)) {}
  ~Nvidia() override { let_go(); }

  // Errors: not_found.
  Result<void> begin() {
    TRY(find_gpus());
    if (devices_.empty()) return fail(Code::not_found, "NVIDIA's driver is loaded, but finds no GPU");
    return {};
  }

  Result<std::vector<Table>> sample() override {
    const NvidiaSample sample{nvml_->f, ++number_, host_.unix_now(), host_.steady_now()};
    xids_.hear(nvml_->f, devices_, events_);
    find_lost(sample.steady);
    std::vector<Table> tables;
    Table all("gpu", gpu::kFields), activity("gpu_activity", gpu_activity::kFields),
        processes("gpu_process", gpu_process::kFields), instances("gpu_mig", gpu_mig::kFields),
        xids("gpu_xid", gpu_xid::kFields);
    for (NvidiaDevice& device : devices_) {
      const bool was_lost = device.is_lost;
      look_at(device, sample, all, activity, processes, instances);
      append_xids(xids, device);
      if (device.is_lost && !was_lost) tell(device, "lost", "critical", kLost);
    }
    note_lost_gpus(all, std::ranges::count_if(devices_, &NvidiaDevice::is_lost), devices_.size());
    tables.push_back(std::move(all));
    Table jobs = gpu_jobs(processes);
    for (Table* table : {&activity, &processes, &jobs, &instances, &xids}) {
      if (table->rows() > 0) tables.push_back(std::move(*table));
    }
    if (!events_.empty()) tables.push_back(events_.take(sample.unix));
    return tables;
  }

 private:
  void look_at(NvidiaDevice& device, const NvidiaSample& sample, Table& all, Table& activity,
               Table& processes, Table& instances) {
    device.quality = {};
    device.utilization = device.pcie_tx = device.pcie_rx = std::nullopt;
    if (device.is_lost) device.quality.add(Doubt::lost);
    const std::vector<GpuProcess> on_it = read_processes(device, sample, identities_.get());
    if (!device.is_lost) device.owner = owner(on_it);
    if (identities_ && !device.uuid.empty())
      identities_->set_gpu_owner(device.uuid, device.is_lost ? Who() : device.owner);
    std::optional<GpmReading> reading = gpm_.read(device, std::nullopt, sample);
    if (reading) {
      device.pcie_tx = reading->cells[gpu_activity::pcie_tx_bytes_per_s];
      device.pcie_rx = reading->cells[gpu_activity::pcie_rx_bytes_per_s];
    }
    append_gpu(all, device, sample, driver_, events_);
    if (device.is_lost) return;
    if (reading) append_activity(activity, device, *reading);
    append_processes(processes, device, on_it);
    if (device.has_mig.value_or(false)) append_instances(instances, device, sample, gpm_, on_it);
  }

  static Who owner(const std::vector<GpuProcess>& processes) {
    std::vector<Who> all;
    for (const GpuProcess& process : processes) all.push_back(process.who);
    return owner_of(all);
  }

  static void append_activity(Table& table, const NvidiaDevice& device, GpmReading& reading) {
    doubt_idle_sms(device.utilization, reading.cells, reading.quality);
    Row row(gpu_activity::kColumnCount);
    for (size_t i = 0; i < row.size(); ++i) row[i] = or_null(reading.cells[i]);
    row[gpu_activity::gpu] = device.index;
    row[gpu_activity::uuid] = or_null(device.uuid);
    row[gpu_activity::source] = std::string_view("gpm");
    const std::string quality = reading.quality.text();
    row[gpu_activity::quality] = or_null(quality);
    set_owner(row, gpu_activity::job, device.owner);
    table.append(row);
  }

  static void append_xids(Table& table, const NvidiaDevice& device) {
    for (const auto& [number, errors] : device.errors_by_xid) {
      const Xid xid = xid_of(number);
      table.append({device.index, number, or_null(device.uuid), xid.severity, or_null(xid.meaning), errors});
    }
  }

  void tell(const NvidiaDevice& device, const char* event, std::string_view severity,
            std::string_view meaning) {
    events_.add({.event = event,
                 .gpu = device.index,
                 .uuid = device.uuid,
                 .owner = device.owner,
                 .count = 1,
                 .severity = severity,
                 .meaning = meaning});
  }

  // Where a GPU is lost, NVML begins anew now and then: only so does it find one that was reset.
  void find_lost(Ns now) {
    if (std::ranges::none_of(devices_, &NvidiaDevice::is_lost) || now < restart_at_) return;
    restart_at_ = now + kRestart;
    std::vector<bool> was_lost;
    for (NvidiaDevice& device : devices_) was_lost.push_back(std::exchange(device.is_lost, true));
    let_go();
    if (nvml_->restart()) (void)find_gpus();  // of those that it does not find, the rows say so
    for (size_t i = 0; i < was_lost.size(); ++i) {
      if (was_lost[i] && !devices_[i].is_lost) tell(devices_[i], "returned", "info", "the GPU answers again");
      if (!was_lost[i] && devices_[i].is_lost) tell(devices_[i], "lost", "critical", kLost);
    }
  }

  // Takes up the GPUs that NVML lists. One that is known, by its UUID, keeps its index.
  Result<void> find_gpus() {
    const collect::nvml::Functions& f = nvml_->f;
    char text[97] = {};
    if (collect::nvml::call(f.nvmlSystemGetDriverVersion, text, u32{80}) == collect::nvml::kSuccess)
      driver_ = text;
    u32 count = 0;
    if (const collect::nvml::Return code = collect::nvml::call(f.nvmlDeviceGetCount_v2, &count);
        code != collect::nvml::kSuccess)
      return fail(Code::io, "NVML does not say how many GPUs there are: {}", nvml_error(code));
    const bool is_first = devices_.empty();
    for (u32 i = 0; i < std::min(count, kMostGpus); ++i) {
      collect::nvml::Device handle = nullptr;
      const collect::nvml::Return code = collect::nvml::call(f.nvmlDeviceGetHandleByIndex_v2, i, &handle);
      if (code == collect::nvml::kSuccess) {
        NvidiaDevice& device = known(handle, i);
        device.begin(f, host_, handle);
      } else if (is_first) {
        NvidiaDevice& device = devices_.emplace_back();
        device.index = i;
        device.is_lost = true;
      }
    }
    xids_.begin(f, devices_);
    return {};
  }

  // That of the UUID; else that of the place which has none yet; else a new one.
  NvidiaDevice& known(collect::nvml::Device handle, i64 place) {
    char uuid[97] = {};
    collect::nvml::call(nvml_->f.nvmlDeviceGetUUID, handle, uuid, u32{96});
    auto it = std::ranges::find(devices_, std::string_view(uuid), &NvidiaDevice::uuid);
    if (it == devices_.end() || !*uuid)
      it = std::ranges::find_if(devices_, [&](const auto& d) { return d.uuid.empty() && d.index == place; });
    if (it != devices_.end()) {
      it->uuid = uuid;
      return *it;
    }
    const bool is_taken = std::ranges::find(devices_, place, &NvidiaDevice::index) != devices_.end();
    NvidiaDevice& device = devices_.emplace_back();
    device.index = is_taken ? std::ranges::max(devices_, {}, &NvidiaDevice::index).index + 1 : place;
    device.uuid = uuid;
    return device;
  }

  // Before NVML ends or begins anew.
  void let_go() {
    xids_.end(nvml_->f);
    gpm_.clear(nvml_->f);
  }

  Host host_;
  std::shared_ptr<Identities> identities_;
  std::unique_ptr<NvmlSession> nvml_;
  std::string driver_;
  std::vector<NvidiaDevice> devices_;
  XidListener xids_;
  NvidiaGpm gpm_;
  GpuEvents events_;
  i64 number_ = 0;
  Ns restart_at_ = 0;
};

}  // namespace

const CollectorKind kNvidia = {
    .name = "nvidia",
    .help = "NVIDIA's GPUs, by the library of their driver (NVML).",
    .period = kSecond,
    .may_block = true,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      TRY_ASSIGN(auto nvml, NvmlSession::open(s.host));
      auto collector = std::make_unique<Nvidia>(s, std::move(nvml));
      TRY(collector->begin());
      return collector;
    },
};

}  // namespace spotter::collect
