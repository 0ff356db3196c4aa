// The part of NVIDIA's management library (NVML) that is used here: our own declarations of its ABI, and the
// functions by name, each nullptr where the driver's library does not have it. Numbers, names and layouts are
// those of NVIDIA's NVML API reference and of its Python binding (nvidia-ml-py 13.615); the sizes below are
// what that binding computes.
#pragma once
#include <cstddef>

#include "base/types.h"

namespace spotter::collect::nvml {

using Return = int;  // nvmlReturn_t
inline constexpr Return kSuccess = 0, kUninitialized = 1, kInvalidArgument = 2, kNotSupported = 3,
                        kNoPermission = 4, kNotFound = 6, kInsufficientSize = 7, kDriverNotLoaded = 9,
                        kTimeout = 10, kFunctionNotFound = 13, kGpuIsLost = 15, kResetRequired = 16,
                        kVersionMismatch = 18, kNoData = 21, kArgumentVersionMismatch = 25, kUnknown = 999;

struct DeviceOpaque;
struct EventSetOpaque;
struct GpmSampleOpaque;
using Device = DeviceOpaque*;
using EventSet = EventSetOpaque*;
using GpmSample = GpmSampleOpaque*;

struct Utilization {
  u32 gpu, memory;  // percent
};
struct Memory {  // v1: used holds what is reserved, too
  u64 total, free, used;
};
struct MemoryV2 {
  u32 version = kVersion;
  u64 total, reserved, free, used;
  static constexpr u32 kVersion = 0x02000028;
};
struct PciInfo {  // v3
  char bus_id_legacy[16];
  u32 domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
struct FieldValue {
  u32 field_id, scope_id;
  i64 timestamp, latency_us;
  u32 value_type;
  Return result;
  union {
    double real;
    u32 u32_value;
    u64 u64_value;
    i64 i64_value;
    i32 i32_value;
    u16 u16_value;
  };
};
enum ValueType : u32 { kDouble, kU32, kULong, kU64, kI64, kI32, kU16 };
struct ProcessInfo {  // v2 and v3
  u32 pid;
  u64 used_memory;
  u32 gpu_instance, compute_instance;
};
struct ProcessSample {
  u32 pid;
  u64 timestamp_us;
  u32 sm, memory, encoder, decoder;  // percent
};
struct EventData {
  Device device;
  u64 type, data;
  u32 gpu_instance, compute_instance;
};
struct Attributes {
  u32 multiprocessors, copy_engines, decoders, encoders, jpegs, ofas, gpu_slices, compute_slices;
  u64 memory_mb;
};
struct GpmSupport {
  u32 version = 1;
  u32 is_supported = 0;
};
struct GpmMetric {
  u32 id;
  Return result;
  double value;
  const char *short_name, *long_name, *unit;
};
// The library's array grows from driver to driver and only the first `count` are read and written; this one
// is longer than any so far (333 to 477).
struct GpmMetrics {
  u32 version = 1;
  u32 count = 0;
  GpmSample first = nullptr, second = nullptr;
  GpmMetric metrics[640];
};

static_assert(sizeof(MemoryV2) == (MemoryV2::kVersion & 0xffffff) && offsetof(MemoryV2, total) == 8);
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, bus_id) == 36);
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, value_type) == 24 &&
              offsetof(FieldValue, real) == 32);
static_assert(sizeof(ProcessInfo) == 24 && offsetof(ProcessInfo, gpu_instance) == 16);
static_assert(sizeof(ProcessSample) == 32 && offsetof(ProcessSample, sm) == 16);
static_assert(sizeof(EventData) == 32 && offsetof(EventData, gpu_instance) == 24);
static_assert(sizeof(Attributes) == 40 && offsetof(Attributes, memory_mb) == 32);
static_assert(sizeof(GpmMetric) == 40 && offsetof(GpmMetric, value) == 8 &&
              offsetof(GpmMetrics, metrics) == 24);

inline constexpr u32 kNoInstance = ~u32{0};
inline constexpr u64 kXidCriticalError = 8;  // type of an event
inline constexpr u32 kTemperatureGpu = 0;
enum Clock : u32 { kClockGraphics, kClockSm, kClockMemory, kClockVideo };
enum PcieDirection : u32 { kPcieTx, kPcieRx };

#define SPOTTER_NVML_FUNCTIONS(X)                                           \
  X(nvmlInit_v2, ())                                                        \
  X(nvmlShutdown, ())                                                       \
  X(nvmlSystemGetDriverVersion, (char*, u32))                               \
  X(nvmlDeviceGetCount_v2, (u32*))                                          \
  X(nvmlDeviceGetHandleByIndex_v2, (u32, Device*))                          \
  X(nvmlDeviceGetUUID, (Device, char*, u32))                                \
  X(nvmlDeviceGetName, (Device, char*, u32))                                \
  X(nvmlDeviceGetSerial, (Device, char*, u32))                              \
  X(nvmlDeviceGetPciInfo_v3, (Device, PciInfo*))                            \
  X(nvmlDeviceGetMigMode, (Device, u32*, u32*))                             \
  X(nvmlDeviceGetUtilizationRates, (Device, Utilization*))                  \
  X(nvmlDeviceGetEncoderUtilization, (Device, u32*, u32*))                  \
  X(nvmlDeviceGetDecoderUtilization, (Device, u32*, u32*))                  \
  X(nvmlDeviceGetMemoryInfo, (Device, Memory*))                             \
  X(nvmlDeviceGetMemoryInfo_v2, (Device, MemoryV2*))                        \
  X(nvmlDeviceGetPowerUsage, (Device, u32*))                                \
  X(nvmlDeviceGetEnforcedPowerLimit, (Device, u32*))                        \
  X(nvmlDeviceGetClockInfo, (Device, u32, u32*))                            \
  X(nvmlDeviceGetMaxClockInfo, (Device, u32, u32*))                         \
  X(nvmlDeviceGetTemperature, (Device, u32, u32*))                          \
  X(nvmlDeviceGetFanSpeed, (Device, u32*))                                  \
  X(nvmlDeviceGetPerformanceState, (Device, u32*))                          \
  X(nvmlDeviceGetCurrentClocksThrottleReasons, (Device, u64*))              \
  X(nvmlDeviceGetPcieThroughput, (Device, u32, u32*))                       \
  X(nvmlDeviceGetCurrPcieLinkGeneration, (Device, u32*))                    \
  X(nvmlDeviceGetCurrPcieLinkWidth, (Device, u32*))                         \
  X(nvmlDeviceGetMaxPcieLinkGeneration, (Device, u32*))                     \
  X(nvmlDeviceGetMaxPcieLinkWidth, (Device, u32*))                          \
  X(nvmlDeviceGetFieldValues, (Device, i32, FieldValue*))                   \
  X(nvmlDeviceGetNvLinkState, (Device, u32, u32*))                          \
  X(nvmlDeviceGetComputeRunningProcesses_v2, (Device, u32*, ProcessInfo*))  \
  X(nvmlDeviceGetComputeRunningProcesses_v3, (Device, u32*, ProcessInfo*))  \
  X(nvmlDeviceGetGraphicsRunningProcesses_v2, (Device, u32*, ProcessInfo*)) \
  X(nvmlDeviceGetGraphicsRunningProcesses_v3, (Device, u32*, ProcessInfo*)) \
  X(nvmlDeviceGetProcessUtilization, (Device, ProcessSample*, u32*, u64))   \
  X(nvmlDeviceGetMaxMigDeviceCount, (Device, u32*))                         \
  X(nvmlDeviceGetMigDeviceHandleByIndex, (Device, u32, Device*))            \
  X(nvmlDeviceGetGpuInstanceId, (Device, u32*))                             \
  X(nvmlDeviceGetComputeInstanceId, (Device, u32*))                         \
  X(nvmlDeviceGetAttributes_v2, (Device, Attributes*))                      \
  X(nvmlEventSetCreate, (EventSet*))                                        \
  X(nvmlEventSetFree, (EventSet))                                           \
  X(nvmlEventSetWait_v2, (EventSet, EventData*, u32))                       \
  X(nvmlDeviceRegisterEvents, (Device, u64, EventSet))                      \
  X(nvmlGpmQueryDeviceSupport, (Device, GpmSupport*))                       \
  X(nvmlGpmSampleAlloc, (GpmSample*))                                       \
  X(nvmlGpmSampleFree, (GpmSample))                                         \
  X(nvmlGpmSampleGet, (Device, GpmSample))                                  \
  X(nvmlGpmMigSampleGet, (Device, u32, GpmSample))                          \
  X(nvmlGpmMetricsGet, (GpmMetrics*))

struct Functions {
#define SPOTTER_NVML_MEMBER(name, arguments) Return(*name) arguments = nullptr;
  SPOTTER_NVML_FUNCTIONS(SPOTTER_NVML_MEMBER)
#undef SPOTTER_NVML_MEMBER
};

template <class... P, class... A>
Return call(Return (*function)(P...), A... arguments) {
  return function ? function(arguments...) : kFunctionNotFound;
}

}  // namespace spotter::collect::nvml
