// The contract between whoever reads trace files (read/) and whoever wants traces (analyze/run.h): analyze is
// handed a Loader, so that it does not know read.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/result.h"
#include "trace/job.h"
#include "trace/trace.h"

namespace spotter {

inline constexpr const char* kTextLeftOut = "(name left out: too many)";

struct LoadRequest {
  ArgSet args = ArgSet::everything();  // event arguments to keep
  int threads = 1;                     // that this one load may use, the calling one included
  size_t most_texts = SIZE_MAX;  // distinct names and texts to tell apart; what comes later is kTextLeftOut
  std::function<void(i64 bytes)>
      on_bytes;  // progress: stored bytes read since the last call; called by any thread
  const std::atomic<bool>* cancelled = nullptr;
};

using Loader = std::function<Result<TracePtr>(const TraceFile&, const LoadRequest&)>;

}  // namespace spotter
