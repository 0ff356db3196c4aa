// What a request for a capture (wire/capture_request.h) means here: which processes, and what they record.
#pragma once
#include "base/result.h"
#include "capture/captures.h"
#include "kineto/registry.h"
#include "wire/capture_request.h"

namespace spotter::agent {

struct WantedCapture {
  kineto::Target target;
  capture::Request request;  // without its pids
};

// Errors: invalid.
Result<WantedCapture> wanted_capture(const wire::CaptureRequest& asked, i64 now_unix_ms);

}  // namespace spotter::agent
