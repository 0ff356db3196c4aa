// What a user asks for: the body of POST /v1/captures, a JSON object, all members optional.
//
//   pids, ranks        lists of numbers   which processes; none of them: every one that is not a helper
//   job                text               of the scheduler or launcher
//   all                true               helpers, too
//   output             text               directory of the files; the first one of the agent's if not given
//   duration_ms, iterations, roundup, warmup_ms, deadline_ms   numbers
//   start_time_ms      number             Unix time; or start_in_ms, from now on
//   shapes, stacks, memory, flops, modules   true or false
//   activities         list of texts      activity types
//   reason, client     texts              why, and by which program: for the audit log, as the asker says
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace spotter::wire {

struct CaptureRequest {
  std::vector<i64> pids, ranks;
  std::string job, output, reason, client;
  std::vector<std::string> activities;
  bool all = false, shapes = false, stacks = false, memory = false, flops = false, modules = false;
  std::optional<i64> duration_ms, iterations, roundup, start_in_ms, start_time_ms, warmup_ms, deadline_ms;
};

std::string capture_request_text(const CaptureRequest& request);

// Members and their types; whether their values make a capture is the agent's to say. Errors: invalid.
Result<CaptureRequest> read_capture_request(std::string_view body);

}  // namespace spotter::wire
