// Which rows are device work: those of its categories (is_device_work), but for the spans "metrics: <kernel>"
// that Intel's scope profiler adds to category kernel, which repeat a kernel with its counters, and for
// MTIA's event_wait and event_record: synchronisation, that has no category of its own there.
#pragma once
#include <vector>

#include "trace/trace.h"

namespace spotter::trace {

std::vector<EventId> device_rows(const Trace& trace);  // ascending

}  // namespace spotter::trace
