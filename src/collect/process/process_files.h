// ProcessFiles: what /proc says again and again of one process. The files stay open, so that what is read is
// of that process even if another one gets its pid. proc(5).
#pragma once
#include <optional>
#include <string>

#include "base/result.h"
#include "base/system/descriptor.h"
#include "base/system/host.h"
#include "base/types.h"

namespace spotter::collect {

struct ProcessTimes {
  i64 user_ns = 0, system_ns = 0;
  i64 threads = 0;
  i64 resident_bytes = 0;
  i64 minor_faults = 0, major_faults = 0;
  i64 start_ticks = 0;  // after boot, as of process::ProcessStat
  i64 start_ns = 0;
  u64 program = 0;         // of process::ProcessStat
  bool has_ended = false;  // and waits for its parent; what it used is whole
  std::optional<i64> read_bytes,
      written_bytes;  // of disks and network file systems; who may not know has none
};

class ProcessFiles {
 public:
  ProcessFiles(const Host& host, i64 pid);

  // With `last`, what it has read and written is as it was then. Errors: not_found (it is gone), corrupt.
  Result<ProcessTimes> read(const ProcessTimes* last = nullptr);

 private:
  std::string stat_path_;
  Descriptor stat_, io_;
};

}  // namespace spotter::collect
