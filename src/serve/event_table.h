// One event whole: what the file says of it, and the events that it belongs to.
#pragma once
#include <atomic>
#include <string>

#include "serve/job.h"
#include "table/table.h"

namespace spotter::serve {

// Table `event`: name, value, and of other events their numbers. Errors: not_found (there is no such event),
// as of a load.
Result<Table> event_table(const JobPtr& job, const JobFile& file, EventId event,
                          const std::atomic<bool>& cancelled);

}  // namespace spotter::serve
