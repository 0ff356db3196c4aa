// The body of POST /v1/captures: a JSON object, all members optional.
//
//   pids, ranks        lists of numbers   which processes; none of them: every one that is not a helper
//   job                text               of the scheduler or launcher
//   all                true               helpers, too
//   output             text               directory of the files; the first one of the agent's if not given
//   duration_ms, iterations, roundup, warmup_ms, deadline_ms   numbers
//   start_time_ms      number             Unix time; or start_in_ms, from now on
//   shapes, stacks, memory, flops, modules   true or false
//   activities         list of texts      activity types
#pragma once
#include <string_view>

#include "capture/captures.h"
#include "kineto/registry.h"

namespace spotter::agent {

struct CaptureRequest {
  kineto::Target target;
  capture::Request request;  // without its pids
};

// Errors: invalid.
Result<CaptureRequest> read_capture_request(std::string_view body, i64 now_unix_ms);

}  // namespace spotter::agent
