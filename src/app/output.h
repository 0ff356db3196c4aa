// Where an answer goes.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/job.h"

namespace spotter::app {

inline bool is_standard_output(std::string_view path) { return path.empty() || path == "-"; }

// Whether a file that is to be written is one of those that are read. Errors: invalid.
Result<void> check_output(const std::string& path, const Job& job);

// Writes to the file, whole or not at all, or to standard output by that path.
Result<void> write_output(const std::string& path, std::string_view bytes);

}  // namespace spotter::app
