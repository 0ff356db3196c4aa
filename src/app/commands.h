// The commands of the program, one file each. An error ends the program with exit code 1 and one line.
#pragma once
#include "app/cli.h"
#include "base/result.h"

namespace spotter {

Result<void> analyze_command(const AnalyzeOptions& options);
Result<void> analyses_command(const AnalysesOptions& options);

// Writes to the file, whole or not at all, or to standard output if the path is empty.
Result<void> write_output(const std::string& path, std::string_view bytes);

}  // namespace spotter
