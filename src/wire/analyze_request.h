// The body of POST /v1/captures/ID/analyze: a JSON object.
//
//   analyses  list of names
//   params    object of whole numbers and texts, by name; optional
//   steps     first and last; optional
#pragma once
#include <string>
#include <string_view>

#include "analyze/run.h"

namespace spotter::wire {

std::string analyze_request_text(const analyze::RunRequest& request);

// Errors: invalid (also of parameters that none of the analyses has).
Result<analyze::RunRequest> read_analyze_request(std::string_view body);

}  // namespace spotter::wire
