// The flags of the commands that read the traces of a job: which part of it, and with what.
#pragma once
#include <optional>

#include "analyze/run.h"
#include "app/cli/command.h"

namespace spotter::app {

// --ranks and --steps. `what`, such as " of both", follows "only these ranks" in the help. Values have to
// outlive the parse.
std::vector<Option> job_part_options(std::vector<analyze::Range>& ranks, std::optional<analyze::Range>& steps,
                                     const std::string& what = "");

// --threads and --memory.
std::vector<Option> reading_options(analyze::RunRequest& request);

}  // namespace spotter::app
