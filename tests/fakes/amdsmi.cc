// A fake libamd_smi.so: MI300X machines by default (scenario.h). Words of `gpu N`:
//   busy, memory_busy (percent), total, used (bytes), edge, hotspot, memory_temperature (degrees), energy
//   (counts), corrected, uncorrected
// GPU N is at 0000:(0x10 + N):00.0. Functions fail with `error FUNCTION STATUS`.
#include <cstring>
#include <type_traits>

#include "collect/gpu/amd_smi.h"
#include "scenario.h"

using namespace spotter;
using namespace spotter::collect::amdsmi;

namespace {

int sockets[64];  // each its number
bool is_up = false;

const fake::Scenario& scenario() { return fake::Scenario::now(); }
int number_of(collect::amdsmi::Handle handle) {
  return static_cast<int>(static_cast<int*>(handle) - sockets);
}

collect::amdsmi::Status fails(const char* function, collect::amdsmi::Handle handle) {
  if (!is_up) return 32;
  return static_cast<collect::amdsmi::Status>(scenario().error(function, handle ? number_of(handle) : -1));
}
#define FAIL_OR_GO(handle) \
  if (const Status status = fails(__func__, handle)) return status

u64 value(collect::amdsmi::Handle handle, const char* key, double otherwise) {
  return static_cast<u64>(scenario().number(number_of(handle), key, otherwise));
}

}  // namespace

extern "C" {

collect::amdsmi::Status amdsmi_init(u64 flags) {
  if (const int code = scenario().error(__func__)) return static_cast<collect::amdsmi::Status>(code);
  is_up = flags == collect::amdsmi::kInitGpus;
  return is_up ? collect::amdsmi::kSuccess : 1;
}
collect::amdsmi::Status amdsmi_shut_down() {
  is_up = false;
  return collect::amdsmi::kSuccess;
}
collect::amdsmi::Status amdsmi_get_socket_handles(u32* count, collect::amdsmi::Handle* handles) {
  FAIL_OR_GO(nullptr);
  const u32 all = static_cast<u32>(scenario().gpus());
  for (u32 i = 0; handles && i < std::min(all, *count); ++i) handles[i] = &sockets[i];
  *count = all;
  return collect::amdsmi::kSuccess;
}
collect::amdsmi::Status amdsmi_get_processor_handles(collect::amdsmi::Handle socket, u32* count,
                                                     collect::amdsmi::Handle* handles) {
  FAIL_OR_GO(socket);
  if (handles) handles[0] = socket;
  *count = 1;
  return collect::amdsmi::kSuccess;
}
collect::amdsmi::Status amdsmi_get_gpu_device_bdf(collect::amdsmi::Handle handle, u64* bdf) {
  FAIL_OR_GO(handle);
  *bdf = static_cast<u64>(0x10 + number_of(handle)) << 8;
  return collect::amdsmi::kSuccess;
}
collect::amdsmi::Status amdsmi_get_gpu_device_uuid(collect::amdsmi::Handle handle, u32* length, char* text) {
  FAIL_OR_GO(handle);
  std::snprintf(text, *length, "c4ff74a1-0000-1000-80e7-%012x", number_of(handle));
  return collect::amdsmi::kSuccess;
}
collect::amdsmi::Status amdsmi_get_gpu_asic_info(collect::amdsmi::Handle handle,
                                                 collect::amdsmi::AsicInfo* info) {
  FAIL_OR_GO(handle);
  std::strcpy(info->market_name, "AMD Instinct MI300X OAM");
  return collect::amdsmi::kSuccess;
}
collect::amdsmi::Status amdsmi_get_gpu_activity(collect::amdsmi::Handle handle,
                                                collect::amdsmi::Activity* activity) {
  FAIL_OR_GO(handle);
  activity->graphics = static_cast<u32>(value(handle, "busy", 93));
  activity->memory = static_cast<u32>(value(handle, "memory_busy", 37));
  activity->media = 0xffffffff;
  return collect::amdsmi::kSuccess;
}
collect::amdsmi::Status amdsmi_get_gpu_memory_total(collect::amdsmi::Handle handle, u32 kind, u64* bytes) {
  FAIL_OR_GO(handle);
  *bytes = value(handle, "total", 206141652992);
  return kind == collect::amdsmi::kVram ? collect::amdsmi::kSuccess : 1;
}
collect::amdsmi::Status amdsmi_get_gpu_memory_usage(collect::amdsmi::Handle handle, u32 kind, u64* bytes) {
  FAIL_OR_GO(handle);
  *bytes = value(handle, "used", 150000000000);
  return kind == collect::amdsmi::kVram ? collect::amdsmi::kSuccess : 1;
}
collect::amdsmi::Status amdsmi_get_temp_metric(collect::amdsmi::Handle handle, u32 sensor, u32 metric,
                                               i64* celsius) {
  FAIL_OR_GO(handle);
  if (metric != collect::amdsmi::kCurrent ||
      (sensor == collect::amdsmi::kEdge && !scenario().has(number_of(handle), "edge")))
    return collect::amdsmi::kNotSupported;
  *celsius =
      static_cast<i64>(sensor == collect::amdsmi::kEdge      ? value(handle, "edge", 0)
                       : sensor == collect::amdsmi::kHotspot ? value(handle, "hotspot", 71)
                                                             : value(handle, "memory_temperature", 58));
  return collect::amdsmi::kSuccess;
}
collect::amdsmi::Status amdsmi_get_energy_count(collect::amdsmi::Handle handle, u64* count,
                                                float* microjoules, u64* nanoseconds) {
  FAIL_OR_GO(handle);
  *count = value(handle, "energy", 1'000'000'000);
  *microjoules = 15.25f;
  *nanoseconds = 1;
  return collect::amdsmi::kSuccess;
}
collect::amdsmi::Status amdsmi_get_gpu_total_ecc_count(collect::amdsmi::Handle handle,
                                                       collect::amdsmi::ErrorCount* errors) {
  FAIL_OR_GO(handle);
  errors->correctable = value(handle, "corrected", 4);
  errors->uncorrectable = value(handle, "uncorrected", 0);
  return collect::amdsmi::kSuccess;
}

#define SPOTTER_SAME(name, arguments) \
  static_assert(std::is_same_v<decltype(&name), decltype(Functions::name)>);
SPOTTER_AMDSMI_FUNCTIONS(SPOTTER_SAME)

}  // extern "C"
