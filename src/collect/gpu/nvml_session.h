// NvmlSession: NVML, opened and initialised; shut down and closed with the object. One thread.
#pragma once
#include <memory>

#include "collect/gpu/library.h"
#include "collect/gpu/nvml.h"

namespace spotter::collect {

class NvmlSession {
 public:
  // Errors: not_found (no library, no driver, no GPU), denied, io.
  static Result<std::unique_ptr<NvmlSession>> open(const Host& host);
  ~NvmlSession();

  // Shuts NVML down and initialises it anew: only so does it find GPUs that come back. All handles are void.
  Result<void> restart();

  collect::nvml::Functions f;

 private:
  Result<void> begin();

  Library library_;
  bool is_begun_ = false;
};

// The words of a code that are worth showing.
const char* nvml_error(collect::nvml::Return code);

}  // namespace spotter::collect
