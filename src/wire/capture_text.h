// What a user asks for, as the body of POST /v1/captures (capture_request.h reads it).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"

namespace spotter::wire {

struct CaptureWish {
  std::vector<i64> pids, ranks;
  std::string job, output;
  std::vector<std::string> activities;
  bool all = false, shapes = false, stacks = false, memory = false, flops = false, modules = false;
  std::optional<i64> duration_ms, iterations, roundup, start_in_ms, start_time_ms, warmup_ms, deadline_ms;
};

std::string capture_text(const CaptureWish& wish);

}  // namespace spotter::wire
