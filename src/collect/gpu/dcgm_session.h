// DcgmSession: DCGM's library, a host engine, and the fields that it watches for us; all of it let go with
// the object. One thread.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collect/gpu/dcgm.h"
#include "collect/gpu/library.h"

namespace spotter::collect {

struct DcgmGpu {
  u32 id = 0;     // DCGM's own
  i64 index = 0;  // NVML's
  std::string uuid;
  i64 compute_major = 0;  // of its compute capability
};

class DcgmSession {
 public:
  // Connects to the engine at `address`; where there is none and `embedded`, starts one in this process,
  // which takes the profiling lock of the GPUs. Errors: not_found, io.
  static Result<std::unique_ptr<DcgmSession>> open(const Host& host, const std::string& address,
                                                   bool embedded);
  ~DcgmSession();

  Result<std::vector<DcgmGpu>> gpus();
  // Once. Errors: denied, unsupported, io.
  Result<void> watch(std::span<const DcgmGpu> gpus, std::span<const u16> fields, Ns period);
  // Whether the engine cannot measure the fields at once, and takes turns.
  bool takes_turns(u32 gpu, std::span<const u16> fields);
  // The newest values; each with a status of its own. Errors: io (the connection broke, say).
  Result<std::span<const collect::dcgm::FieldValue>> values(u32 gpu, std::span<const u16> fields,
                                                            u32 flags = 0);
  void pause(bool is_on);

 private:
  Result<void> begin(const std::string& address, bool embedded);

  Library library_;
  collect::dcgm::Functions f_;
  bool is_up_ = false, is_connected_ = false, is_embedded_ = false, is_watching_ = false, is_paused_ = false;
  collect::dcgm::Handle handle_ = 0;
  collect::dcgm::Group group_ = 0;
  collect::dcgm::FieldGroup fields_ = 0;
  bool has_group_ = false, has_fields_ = false;
  std::vector<collect::dcgm::FieldValue> values_;
};

}  // namespace spotter::collect
