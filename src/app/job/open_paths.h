// Paths of a job as commands name them, opened.
#pragma once
#include <span>
#include <string>

#include "base/result.h"
#include "trace/job.h"

namespace spotter::app {

// FOLDER#2 is the second recording of several in a folder, as `spotter serve` and assistants call it
// (serve/series.h), unless there is a file of that name. Errors: as read::open_job(); not_found (the folder
// has no such recording), and of a folder of several how they are named.
Result<Job> open_paths(std::span<const std::string> paths);

}  // namespace spotter::app
