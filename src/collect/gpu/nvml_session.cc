#include "collect/gpu/nvml_session.h"

namespace spotter::collect {

Result<std::unique_ptr<NvmlSession>> NvmlSession::open(const Host& host) {
  auto session = std::make_unique<NvmlSession>();
  TRY_ASSIGN(session->library_, Library::open(host, {"libnvidia-ml.so.1", "libnvidia-ml.so"}));
#define SPOTTER_NVML_FIND(name, arguments) \
  session->f.name = session->library_.find<decltype(session->f.name)>(#name);
  SPOTTER_NVML_FUNCTIONS(SPOTTER_NVML_FIND)
#undef SPOTTER_NVML_FIND
  TRY(session->begin());
  return session;
}

Result<void> NvmlSession::begin() {
  const collect::nvml::Return code = collect::nvml::call(f.nvmlInit_v2);
  is_begun_ = code == collect::nvml::kSuccess;
  if (is_begun_) return {};
  switch (code) {
    case collect::nvml::kDriverNotLoaded:
      return fail(Code::not_found, "{} is there, but NVIDIA's kernel driver is not loaded", library_.path());
    case collect::nvml::kNoPermission:
      return fail(Code::denied, "NVML refuses this user: may it open /dev/nvidiactl?");
    case collect::nvml::kVersionMismatch:
      return fail(Code::io,
                  "NVML and NVIDIA's kernel driver are of different versions: reload the driver or reboot");
    default:
      return fail(Code::io, "NVML does not begin: {}", nvml_error(code));
  }
}

Result<void> NvmlSession::restart() {
  if (is_begun_) collect::nvml::call(f.nvmlShutdown);
  return begin();
}

NvmlSession::~NvmlSession() {
  if (is_begun_) collect::nvml::call(f.nvmlShutdown);
}

const char* nvml_error(collect::nvml::Return code) {
  switch (code) {
    case collect::nvml::kUninitialized:
      return "it is not initialised";
    case collect::nvml::kNotSupported:
      return "not supported";
    case collect::nvml::kNoPermission:
      return "no permission";
    case collect::nvml::kDriverNotLoaded:
      return "the driver is not loaded";
    case collect::nvml::kTimeout:
      return "timeout";
    case collect::nvml::kFunctionNotFound:
      return "the library does not have the function";
    case collect::nvml::kGpuIsLost:
      return "the GPU is lost";
    case collect::nvml::kResetRequired:
      return "the GPU needs a reset";
    case collect::nvml::kVersionMismatch:
      return "library and driver are of different versions";
    default:
      return "an error that it does not explain";
  }
}

}  // namespace spotter::collect
