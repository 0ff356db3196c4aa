// Which jobs are on which GPUs, of the processes there.
#pragma once
#include "table/table.h"

namespace spotter::collect {

// A table gpu_job of a table gpu_process. Memory is null where no process tells its own.
Table gpu_jobs(const Table& processes);

}  // namespace spotter::collect
