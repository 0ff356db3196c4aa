// Where an answer goes.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace spotter {

// Writes to the file, whole or not at all, or to standard output if the path is empty.
Result<void> write_output(const std::string& path, std::string_view bytes);

}  // namespace spotter
