#include "collect/pmu/pfm_library.h"

#ifdef SPOTTER_HAS_PFM
#include <dlfcn.h>
#include <perfmon/pfmlib_perf_event.h>
#endif

namespace spotter::collect {

#ifdef SPOTTER_HAS_PFM

PfmLibrary::PfmLibrary() : library_(dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL)) {
  if (!library_) return;
  const auto initialize = reinterpret_cast<decltype(&pfm_initialize)>(dlsym(library_, "pfm_initialize"));
  if (initialize && initialize() == PFM_SUCCESS) encode_ = dlsym(library_, "pfm_get_os_event_encoding");
}

PfmLibrary::~PfmLibrary() {
  if (!library_) return;
  const auto terminate = reinterpret_cast<decltype(&pfm_terminate)>(dlsym(library_, "pfm_terminate"));
  if (encode_ && terminate) terminate();
  dlclose(library_);
}

std::optional<perf_event_attr> PfmLibrary::encode(const std::string& name) const {
  if (!encode_) return std::nullopt;
  perf_event_attr whole{};
  whole.size = sizeof whole;
  pfm_perf_encode_arg_t arguments{};
  arguments.attr = &whole;
  arguments.size = sizeof arguments;
  const auto encode = reinterpret_cast<decltype(&pfm_get_os_event_encoding)>(encode_);
  if (encode(name.c_str(), PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arguments) != PFM_SUCCESS)
    return std::nullopt;
  perf_event_attr attributes{};
  attributes.type = whole.type;
  attributes.config = whole.config;
  attributes.config1 = whole.config1;
  attributes.config2 = whole.config2;
  return attributes;
}

#else

PfmLibrary::PfmLibrary() = default;
PfmLibrary::~PfmLibrary() = default;
std::optional<perf_event_attr> PfmLibrary::encode(const std::string&) const { return std::nullopt; }

#endif

}  // namespace spotter::collect
