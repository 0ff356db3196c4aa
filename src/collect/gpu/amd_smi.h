// AmdSmi: AMD's management library (amd-smi), opened at run time: our own declarations of the part of its ABI
// that is the same in ROCm 6 and 7. Numbers, names and layouts are those of its Python binding
// (amdsmi 7.0.2). What changed from release to release (clocks, power, processes) is read from sysfs instead.
// One thread.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "collect/gpu/library.h"

namespace spotter::collect {

namespace amdsmi {

using Status = u32;
inline constexpr collect::amdsmi::Status kSuccess = 0, kNotSupported = 2, kNotYetImplemented = 3,
                                         kNoPermission = 10, kFunctionNotFound = 5;
using Handle = void*;
inline constexpr u64 kInitGpus = 2;
inline constexpr u32 kVram = 0, kEdge = 0, kHotspot = 1, kVramTemperature = 2, kCurrent = 0;

struct Activity {
  u32 graphics, memory, media;  // percent
  u32 reserved[13];
};
struct ErrorCount {
  u64 correctable, uncorrectable, deferred;
  u64 reserved[5];
};
// Begins with the product's name in all releases; longer than any so far.
struct AsicInfo {
  char market_name[8192];
};
static_assert(sizeof(collect::amdsmi::Activity) == 64 && sizeof(collect::amdsmi::ErrorCount) == 64);

#define SPOTTER_AMDSMI_FUNCTIONS(X)                        \
  X(amdsmi_init, (u64))                                    \
  X(amdsmi_shut_down, ())                                  \
  X(amdsmi_get_socket_handles, (u32*, Handle*))            \
  X(amdsmi_get_processor_handles, (Handle, u32*, Handle*)) \
  X(amdsmi_get_gpu_device_bdf, (Handle, u64*))             \
  X(amdsmi_get_gpu_device_uuid, (Handle, u32*, char*))     \
  X(amdsmi_get_gpu_asic_info, (Handle, AsicInfo*))         \
  X(amdsmi_get_gpu_activity, (Handle, Activity*))          \
  X(amdsmi_get_gpu_memory_total, (Handle, u32, u64*))      \
  X(amdsmi_get_gpu_memory_usage, (Handle, u32, u64*))      \
  X(amdsmi_get_temp_metric, (Handle, u32, u32, i64*))      \
  X(amdsmi_get_energy_count, (Handle, u64*, float*, u64*)) \
  X(amdsmi_get_gpu_total_ecc_count, (Handle, ErrorCount*))

struct Functions {
#define SPOTTER_AMDSMI_MEMBER(name, arguments) Status(*name) arguments = nullptr;
  SPOTTER_AMDSMI_FUNCTIONS(SPOTTER_AMDSMI_MEMBER)
#undef SPOTTER_AMDSMI_MEMBER
};

template <class... P, class... A>
collect::amdsmi::Status call(collect::amdsmi::Status (*function)(P...), A... arguments) {
  return function ? function(arguments...) : collect::amdsmi::kFunctionNotFound;
}

}  // namespace amdsmi

struct AmdSmiGpu {
  amdsmi::Handle handle = nullptr;
  std::string bus_id;  // as Linux writes it
  std::string uuid, name;
};

class AmdSmi {
 public:
  // Errors: not_found, io.
  static Result<std::unique_ptr<AmdSmi>> open(const Host& host);
  ~AmdSmi();
  std::vector<AmdSmiGpu> gpus() const;

  amdsmi::Functions f;

 private:
  Library library_;
  bool is_up_ = false;
};

}  // namespace spotter::collect
