#include "collect/gpu/amd_smi.h"

#include <algorithm>
#include <cstring>

namespace spotter::collect {
namespace {

constexpr u32 kMost = 256;

// Function 3 bits, device 5, bus 8, domain 48.
std::string bus_id(u64 bdf) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{}", bdf >> 16, bdf >> 8 & 0xff, bdf >> 3 & 0x1f, bdf & 7);
}

// Handles of a function that is asked for their number first.
template <class Ask>
std::vector<amdsmi::Handle> handles(Ask ask) {
  u32 count = 0;
  if (ask(&count, nullptr) != amdsmi::kSuccess) return {};
  count = std::min(count, kMost);
  std::vector<amdsmi::Handle> list(count);
  if (count == 0 || ask(&count, list.data()) != amdsmi::kSuccess) return {};
  list.resize(std::min<size_t>(count, list.size()));
  return list;
}

}  // namespace

Result<std::unique_ptr<AmdSmi>> AmdSmi::open(const Host& host) {
  auto smi = std::make_unique<AmdSmi>();
  TRY_ASSIGN(smi->library_, Library::open(host, {"libamd_smi.so", "libamd_smi.so.26", "libamd_smi.so.25",
                                                 "libamd_smi.so.24"}));
#define SPOTTER_AMDSMI_FIND(name, arguments) smi->f.name = smi->library_.find<decltype(smi->f.name)>(#name);
  SPOTTER_AMDSMI_FUNCTIONS(SPOTTER_AMDSMI_FIND)
#undef SPOTTER_AMDSMI_FIND
  const amdsmi::Status status = amdsmi::call(smi->f.amdsmi_init, amdsmi::kInitGpus);
  if (status != amdsmi::kSuccess) return fail(Code::io, "amd-smi does not begin: error {}", status);
  smi->is_up_ = true;
  return smi;
}

AmdSmi::~AmdSmi() {
  if (is_up_) amdsmi::call(f.amdsmi_shut_down);
}

std::vector<AmdSmiGpu> AmdSmi::gpus() const {
  std::vector<AmdSmiGpu> gpus;
  for (const amdsmi::Handle socket : handles([&](u32* count, amdsmi::Handle* list) {
         return amdsmi::call(f.amdsmi_get_socket_handles, count, list);
       })) {
    for (const amdsmi::Handle handle : handles([&](u32* count, amdsmi::Handle* list) {
           return amdsmi::call(f.amdsmi_get_processor_handles, socket, count, list);
         })) {
      u64 bdf = 0;
      if (amdsmi::call(f.amdsmi_get_gpu_device_bdf, handle, &bdf) != amdsmi::kSuccess) continue;
      AmdSmiGpu gpu{.handle = handle, .bus_id = bus_id(bdf), .uuid = {}, .name = {}};
      char uuid[256] = {};
      u32 length = sizeof(uuid) - 1;
      if (amdsmi::call(f.amdsmi_get_gpu_device_uuid, handle, &length, uuid) == amdsmi::kSuccess)
        gpu.uuid = uuid;
      const auto info = std::make_unique<amdsmi::AsicInfo>();
      if (amdsmi::call(f.amdsmi_get_gpu_asic_info, handle, info.get()) == amdsmi::kSuccess)
        gpu.name.assign(info->market_name, strnlen(info->market_name, 256));
      gpus.push_back(std::move(gpu));
    }
  }
  return gpus;
}

}  // namespace spotter::collect
