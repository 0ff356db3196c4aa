// A fake libnvidia-ml.so.1: eight-way H100 machines by default (scenario.h). Words of `gpu N`:
//   power, power_limit (mW), utilization, memory_utilization, encoder, decoder, fan (percent), temperature,
//   memory_used, memory_total, memory_reserved (bytes), sm_clock, memory_clock, video_clock (MHz), throttle
//   (bits), pcie (KB/s) field ID VALUE|unsupported|blank, gpm METRIC VALUE|CODE:n, gpm_instance
//   INSTANCE:METRIC VALUE, no_gpm process PID BYTES compute|graphics [SM [INSTANCE COMPUTE_INSTANCE]], xid
//   NUMBER (once for each line) mig INSTANCE COMPUTE_INSTANCE BYTES_TOTAL BYTES_USED MULTIPROCESSORS lost
//   (from now until NVML begins anew without this line), absent (not listed)
// Built with SPOTTER_FAKE_OLD it is the library of a driver of 2017, without the newer functions.
#include "collect/gpu/nvml.h"

#include <cmath>
#include <cstring>
#include <map>
#include <type_traits>

#include "scenario.h"

using namespace spotter;
using namespace spotter::collect;
using namespace spotter::collect::nvml;

namespace spotter::collect::nvml {
struct DeviceOpaque {
  int gpu = 0;
  int mig = -1;  // which line `mig`
};
struct EventSetOpaque {
  std::map<int, size_t> delivered;  // XIDs of each GPU that is registered
};
struct GpmSampleOpaque {
  int gpu = -1, instance = -1;
  u64 serial = 0;
};
}  // namespace spotter::collect::nvml

namespace {

constexpr int kMost = 64;
collect::nvml::DeviceOpaque devices[kMost];
[[maybe_unused]] collect::nvml::DeviceOpaque instances[kMost][16];
bool is_lost[kMost];
bool is_up = false;
[[maybe_unused]] u64 energy_calls[kMost];  // the counter of energy moves with each call
[[maybe_unused]] u64 serial = 0;
std::map<int, size_t> xids_gone;  // as the kernel's, they outlive a restart

const fake::Scenario& scenario() { return fake::Scenario::now(); }

// Whether the function fails for the device.
collect::nvml::Return fails(const char* function, collect::nvml::Device device) {
  if (!is_up) return collect::nvml::kUninitialized;
  if (!device) return collect::nvml::kInvalidArgument;
  if (scenario().has(device->gpu, "lost")) is_lost[device->gpu] = true;
  if (is_lost[device->gpu]) return collect::nvml::kGpuIsLost;
  return scenario().error(function, device->gpu);
}
#define FAIL_OR_GO(device) \
  if (const Return code = fails(__func__, device)) return code

u32 whole(collect::nvml::Device device, const char* key, double otherwise) {
  return static_cast<u32>(scenario().number(device->gpu, key, otherwise));
}
u64 large(collect::nvml::Device device, const char* key, double otherwise) {
  return static_cast<u64>(scenario().number(device->gpu, key, otherwise));
}

collect::nvml::Return copy(const std::string& text, char* out, u32 size) {
  if (text.size() >= size) return collect::nvml::kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return collect::nvml::kSuccess;
}

struct MigLine {
  u32 instance, compute_instance;
  u64 total, used;
  u32 multiprocessors;
};
[[maybe_unused]] std::optional<MigLine> mig_line(int gpu, int which) {
  const auto lines = scenario().all(gpu, "mig");
  if (which < 0 || which >= static_cast<int>(lines.size()) || lines[which].size() < 5) return std::nullopt;
  const fake::Words& words = lines[which];
  const auto number = [&](size_t i) { return std::strtoull(words[i].c_str(), nullptr, 10); };
  return MigLine{static_cast<u32>(number(0)), static_cast<u32>(number(1)), number(2), number(3),
                 static_cast<u32>(number(4))};
}

constexpr double kTotal = 85520809984, kReserved = 545259520, kUsed = 62914560000;

std::vector<int> listed() {
  std::vector<int> gpus;
  for (int i = 0; i < std::min(scenario().gpus(), kMost); ++i) {
    if (!scenario().has(i, "absent")) gpus.push_back(i);
  }
  return gpus;
}

collect::nvml::Return processes(collect::nvml::Device device, u32* count, collect::nvml::ProcessInfo* infos,
                                const char* kind) {
  std::vector<collect::nvml::ProcessInfo> found;
  for (const fake::Words& words : scenario().all(device->gpu, "process")) {
    if (words.size() < 3 || words[2] != kind) continue;
    const auto number = [&](size_t i, u32 otherwise) {
      return i < words.size() ? static_cast<u32>(std::strtoul(words[i].c_str(), nullptr, 10)) : otherwise;
    };
    const u64 bytes = words[1] == "unknown" ? ~u64{0} : std::strtoull(words[1].c_str(), nullptr, 10);
    found.push_back(
        {number(0, 0), bytes, number(4, collect::nvml::kNoInstance), number(5, collect::nvml::kNoInstance)});
  }
  const u32 room = *count;
  *count = static_cast<u32>(found.size());
  if (found.size() > room) return collect::nvml::kInsufficientSize;
  std::copy(found.begin(), found.end(), infos);
  return collect::nvml::kSuccess;
}

}  // namespace

extern "C" {

collect::nvml::Return nvmlInit_v2() {
  if (const int code = scenario().error(__func__)) return code;
  is_up = true;
  for (int i = 0; i < kMost; ++i) is_lost[i] = scenario().has(i, "lost"), energy_calls[i] = 0;
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlShutdown() {
  is_up = false;
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlSystemGetDriverVersion(char* text, u32 size) {
  return copy("550.90.07", text, size);
}
collect::nvml::Return nvmlDeviceGetCount_v2(u32* count) {
  if (!is_up) return collect::nvml::kUninitialized;
  if (const int code = scenario().error(__func__)) return code;
  *count = static_cast<u32>(listed().size());
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetHandleByIndex_v2(u32 index, collect::nvml::Device* device) {
  const std::vector<int> gpus = listed();
  if (index >= gpus.size()) return collect::nvml::kInvalidArgument;
  collect::nvml::DeviceOpaque& found = devices[gpus[index]];
  found.gpu = gpus[index];
  FAIL_OR_GO(&found);
  *device = &found;
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetUUID(collect::nvml::Device device, char* text, u32 size) {
  FAIL_OR_GO(device);
  char uuid[96];
  if (device->mig >= 0)
    std::snprintf(uuid, sizeof(uuid), "MIG-%08x-0000-4000-8000-%012x", device->gpu, device->mig);
  else
    std::snprintf(uuid, sizeof(uuid), "GPU-1b2c3d4e-0000-4000-8000-%012x", device->gpu);
  return copy(uuid, text, size);
}
collect::nvml::Return nvmlDeviceGetName(collect::nvml::Device device, char* text, u32 size) {
  FAIL_OR_GO(device);
  return copy("NVIDIA H100 80GB HBM3", text, size);
}
collect::nvml::Return nvmlDeviceGetSerial(collect::nvml::Device device, char* text, u32 size) {
  FAIL_OR_GO(device);
  return copy("165012345" + std::to_string(1000 + device->gpu), text, size);
}
collect::nvml::Return nvmlDeviceGetPciInfo_v3(collect::nvml::Device device, collect::nvml::PciInfo* pci) {
  FAIL_OR_GO(device);
  pci->bus = 0x1b + 0x10 * device->gpu;
  std::snprintf(pci->bus_id, sizeof(pci->bus_id), "00000000:%02X:00.0", pci->bus);
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetUtilizationRates(collect::nvml::Device device,
                                                    collect::nvml::Utilization* utilization) {
  FAIL_OR_GO(device);
  utilization->gpu = whole(device, "utilization", 98);
  utilization->memory = whole(device, "memory_utilization", 41);
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetMemoryInfo(collect::nvml::Device device, collect::nvml::Memory* memory) {
  FAIL_OR_GO(device);
  memory->total = large(device, "memory_total", kTotal);
  memory->used = large(device, "memory_used", kUsed) + large(device, "memory_reserved", kReserved);
  memory->free = memory->total - memory->used;
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetPowerUsage(collect::nvml::Device device, u32* milliwatts) {
  FAIL_OR_GO(device);
  *milliwatts = whole(device, "power", 612'345 + 1000 * device->gpu);
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetEnforcedPowerLimit(collect::nvml::Device device, u32* milliwatts) {
  FAIL_OR_GO(device);
  *milliwatts = whole(device, "power_limit", 700'000);
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetClockInfo(collect::nvml::Device device, u32 clock, u32* megahertz) {
  FAIL_OR_GO(device);
  *megahertz = clock == kClockSm       ? whole(device, "sm_clock", 1755)
               : clock == kClockMemory ? whole(device, "memory_clock", 2619)
                                       : whole(device, "video_clock", 1545);
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetMaxClockInfo(collect::nvml::Device device, u32 clock, u32* megahertz) {
  FAIL_OR_GO(device);
  *megahertz = clock == kClockMemory ? 2619 : 1980;
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetTemperature(collect::nvml::Device device, u32, u32* celsius) {
  FAIL_OR_GO(device);
  *celsius = whole(device, "temperature", 61);
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetFanSpeed(collect::nvml::Device device, u32* percent) {
  FAIL_OR_GO(device);
  if (!scenario().has(device->gpu, "fan")) return collect::nvml::kNotSupported;
  *percent = whole(device, "fan", 0);
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetPerformanceState(collect::nvml::Device device, u32* state) {
  FAIL_OR_GO(device);
  *state = whole(device, "state", 0);
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetCurrentClocksThrottleReasons(collect::nvml::Device device, u64* reasons) {
  FAIL_OR_GO(device);
  const std::string word = scenario().text(device->gpu, "throttle", "4");
  *reasons = word == "blank" ? ~u64{0} : std::strtoull(word.c_str(), nullptr, 0);
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetPcieThroughput(collect::nvml::Device device, u32 direction,
                                                  u32* kilobytes) {
  FAIL_OR_GO(device);
  *kilobytes = whole(device, "pcie", direction == kPcieTx ? 2'000'000 : 1'000'000);
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetCurrPcieLinkGeneration(collect::nvml::Device device, u32* generation) {
  FAIL_OR_GO(device);
  *generation = whole(device, "pcie_generation", 5);
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetCurrPcieLinkWidth(collect::nvml::Device device, u32* width) {
  FAIL_OR_GO(device);
  *width = whole(device, "pcie_width", 16);
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetMaxPcieLinkGeneration(collect::nvml::Device device, u32* generation) {
  FAIL_OR_GO(device);
  *generation = 5;
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetMaxPcieLinkWidth(collect::nvml::Device device, u32* width) {
  FAIL_OR_GO(device);
  *width = 16;
  return collect::nvml::kSuccess;
}
collect::nvml::Return nvmlDeviceGetComputeRunningProcesses_v2(collect::nvml::Device device, u32* count,
                                                              collect::nvml::ProcessInfo* infos) {
  FAIL_OR_GO(device);
  return processes(device, count, infos, "compute");
}

#ifndef SPOTTER_FAKE_OLD
Return nvmlDeviceGetMigMode(Device device, u32* current, u32* pending) {
  FAIL_OR_GO(device);
  *current = *pending = scenario().has(device->gpu, "mig") ? 1 : 0;
  return kSuccess;
}
Return nvmlDeviceGetEncoderUtilization(Device device, u32* percent, u32* period) {
  FAIL_OR_GO(device);
  *percent = whole(device, "encoder", 0);
  *period = 167'000;
  return kSuccess;
}
Return nvmlDeviceGetDecoderUtilization(Device device, u32* percent, u32* period) {
  FAIL_OR_GO(device);
  *percent = whole(device, "decoder", 3);
  *period = 167'000;
  return kSuccess;
}
Return nvmlDeviceGetMemoryInfo_v2(Device device, MemoryV2* memory) {
  FAIL_OR_GO(device);
  if (memory->version != MemoryV2::kVersion) return kArgumentVersionMismatch;
  if (device->mig >= 0) {
    const auto line = mig_line(device->gpu, device->mig);
    if (!line) return kNotFound;
    memory->total = line->total;
    memory->used = line->used;
    memory->reserved = 0;
    memory->free = line->total - line->used;
    return kSuccess;
  }
  memory->total = large(device, "memory_total", kTotal);
  memory->used = large(device, "memory_used", kUsed);
  memory->reserved = large(device, "memory_reserved", kReserved);
  memory->free = memory->total - memory->used - memory->reserved;
  return kSuccess;
}
Return nvmlDeviceGetFieldValues(Device device, i32 count, FieldValue* values) {
  FAIL_OR_GO(device);
  static const std::map<u32, double> kDefaults = {{3, 0},
                                                  {4, 0},
                                                  {5, 2},
                                                  {6, 0},
                                                  {38, 0},
                                                  {45, 0},
                                                  {52, 0},
                                                  {59, 0},
                                                  {74, 8'000'000'000},
                                                  {75, 0},
                                                  {76, 0},
                                                  {77, 0},
                                                  {78, 0},
                                                  {79, 0},
                                                  {82, 68},
                                                  {83, 98'765'432'100},
                                                  {91, 18},
                                                  {94, 0},
                                                  {138, 5'000'000},
                                                  {139, 5'100'000},
                                                  {142, 1},
                                                  {143, 0},
                                                  {144, 0},
                                                  {145, 0},
                                                  {269, 0},
                                                  {270, 0},
                                                  {271, 0}};
  for (i32 i = 0; i < count; ++i) {
    FieldValue& value = values[i];
    const auto word = scenario().text_of(device->gpu, "field", std::to_string(value.field_id));
    const auto it = kDefaults.find(value.field_id);
    value.result = kSuccess;
    value.value_type = kU64;
    if ((value.field_id == 138 || value.field_id == 139) && value.scope_id != ~u32{0})
      value.result = kInvalidArgument;
    else if (word == "unsupported" || (!word && it == kDefaults.end()))
      value.result = kNotSupported;
    else if (word == "blank")
      value.u64_value = ~u64{0};
    else
      value.u64_value = static_cast<u64>(word ? std::strtod(word->c_str(), nullptr) : it->second);
    if (value.field_id == 83 && !word) value.u64_value += 612'000 * energy_calls[device->gpu]++;
    if (value.field_id == 82 || value.field_id == 91) {  // as the driver does: 32 bits, rubbish above
      const u32 narrow = word == "blank" ? ~u32{0} : static_cast<u32>(value.u64_value);
      value.u64_value = 0xdeadbeef00000000;
      value.u32_value = narrow;
      value.value_type = kU32;
    }
  }
  return kSuccess;
}
Return nvmlDeviceGetNvLinkState(Device device, u32 link, u32* state) {
  FAIL_OR_GO(device);
  *state = link < whole(device, "links_up", 18) ? 1 : 0;
  return kSuccess;
}
Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, u32* count, ProcessInfo* infos) {
  FAIL_OR_GO(device);
  return processes(device, count, infos, "compute");
}
Return nvmlDeviceGetGraphicsRunningProcesses_v2(Device, u32*, ProcessInfo*) { return kNotSupported; }
Return nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, u32* count, ProcessInfo* infos) {
  FAIL_OR_GO(device);
  return processes(device, count, infos, "graphics");
}
Return nvmlDeviceGetProcessUtilization(Device device, ProcessSample* samples, u32* count, u64 since) {
  FAIL_OR_GO(device);
  std::vector<ProcessSample> found;
  for (const fake::Words& words : scenario().all(device->gpu, "process")) {
    if (words.size() < 4) continue;
    const auto pid = static_cast<u32>(std::strtoul(words[0].c_str(), nullptr, 10));
    const auto sm = static_cast<u32>(std::strtoul(words[3].c_str(), nullptr, 10));
    if (sm > 0) found.push_back({pid, since + 1000, sm, sm / 2, 0, 0});
  }
  if (found.empty()) return kNotFound;
  const u32 room = *count;
  *count = static_cast<u32>(found.size());
  if (found.size() > room) return kInsufficientSize;
  std::copy(found.begin(), found.end(), samples);
  return kSuccess;
}
Return nvmlDeviceGetMaxMigDeviceCount(Device device, u32* count) {
  FAIL_OR_GO(device);
  *count = 7;
  return kSuccess;
}
Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, u32 index, Device* mig) {
  FAIL_OR_GO(device);
  if (!mig_line(device->gpu, static_cast<int>(index))) return kNotFound;
  instances[device->gpu][index] = {device->gpu, static_cast<int>(index)};
  *mig = &instances[device->gpu][index];
  return kSuccess;
}
Return nvmlDeviceGetGpuInstanceId(Device device, u32* id) {
  FAIL_OR_GO(device);
  const auto line = mig_line(device->gpu, device->mig);
  if (!line) return kNotFound;
  *id = line->instance;
  return kSuccess;
}
Return nvmlDeviceGetComputeInstanceId(Device device, u32* id) {
  FAIL_OR_GO(device);
  const auto line = mig_line(device->gpu, device->mig);
  if (!line) return kNotFound;
  *id = line->compute_instance;
  return kSuccess;
}
Return nvmlDeviceGetAttributes_v2(Device device, Attributes* attributes) {
  FAIL_OR_GO(device);
  const auto line = mig_line(device->gpu, device->mig);
  if (!line) return kNotFound;
  attributes->multiprocessors = line->multiprocessors;
  return kSuccess;
}

Return nvmlEventSetCreate(EventSet* set) {
  if (!is_up) return kUninitialized;
  if (const int code = scenario().error(__func__)) return code;
  *set = new EventSetOpaque;
  return kSuccess;
}
Return nvmlEventSetFree(EventSet set) {
  delete set;
  return kSuccess;
}
Return nvmlDeviceRegisterEvents(Device device, u64 types, EventSet set) {
  FAIL_OR_GO(device);
  if (types != kXidCriticalError) return kNotSupported;
  set->delivered[device->gpu] = 0;
  return kSuccess;
}
Return nvmlEventSetWait_v2(EventSet set, EventData* data, u32 timeout) {
  if (timeout != 0) return kInvalidArgument;
  if (const int code = scenario().error(__func__)) return code;
  for (auto& [gpu, ignored] : set->delivered) {
    const auto lines = scenario().all(gpu, "xid");
    size_t& gone = xids_gone[gpu];
    if (gone > lines.size()) gone = 0;  // another scenario
    if (gone == lines.size()) continue;
    const fake::Words& words = lines[gone++];
    *data = {&devices[gpu], kXidCriticalError, std::strtoull(words[0].c_str(), nullptr, 10), kNoInstance,
             kNoInstance};
    return kSuccess;
  }
  return kTimeout;
}

Return nvmlGpmQueryDeviceSupport(Device device, GpmSupport* support) {
  FAIL_OR_GO(device);
  if (support->version != 1) return kArgumentVersionMismatch;
  support->is_supported = !scenario().has(device->gpu, "no_gpm");
  return kSuccess;
}
Return nvmlGpmSampleAlloc(GpmSample* sample) {
  *sample = new GpmSampleOpaque;
  return kSuccess;
}
Return nvmlGpmSampleFree(GpmSample sample) {
  delete sample;
  return kSuccess;
}
Return nvmlGpmSampleGet(Device device, GpmSample sample) {
  FAIL_OR_GO(device);
  *sample = {device->gpu, -1, ++serial};
  return kSuccess;
}
Return nvmlGpmMigSampleGet(Device device, u32 instance, GpmSample sample) {
  FAIL_OR_GO(device);
  *sample = {device->gpu, static_cast<int>(instance), ++serial};
  return kSuccess;
}
Return nvmlGpmMetricsGet(GpmMetrics* metrics) {
  static const std::map<u32, double> kDefaults = {
      {1, 99.1}, {2, 87.5}, {3, 41.25}, {4, 12.5}, {5, 62.5}, {6, 0},     {7, 62.5},    {8, 0},      {9, 0},
      {10, 55},  {11, 0},   {12, 8.5},  {13, 1.5}, {20, 120}, {21, 2048}, {60, 150000}, {61, 140000}};
  if (metrics->version != 1) return kArgumentVersionMismatch;
  const GpmSampleOpaque &first = *metrics->first, &second = *metrics->second;
  if (first.gpu != second.gpu || first.instance != second.instance || first.serial >= second.serial)
    return kInvalidArgument;
  if (const int code = scenario().error(__func__, second.gpu)) return code;
  for (u32 i = 0; i < metrics->count; ++i) {
    GpmMetric& metric = metrics->metrics[i];
    const std::string id = std::to_string(metric.id);
    const auto word = second.instance < 0 ? scenario().text_of(second.gpu, "gpm", id)
                                          : scenario().text_of(second.gpu, "gpm_instance",
                                                               std::to_string(second.instance) + ":" + id);
    const auto it = kDefaults.find(metric.id);
    metric.result = kSuccess;
    if (word && word->starts_with("CODE:"))
      metric.result = std::atoi(word->c_str() + 5);
    else if (word)
      metric.value = std::strtod(word->c_str(), nullptr);
    else if (it != kDefaults.end() && second.instance < 0)
      metric.value = it->second;
    else
      metric.result = kNotSupported;
  }
  return kSuccess;
}

// The fake has each function that is used, as it is declared.
#define SPOTTER_SAME(name, arguments) \
  static_assert(std::is_same_v<decltype(&name), decltype(Functions::name)>);
SPOTTER_NVML_FUNCTIONS(SPOTTER_SAME)
#endif

}  // extern "C"
