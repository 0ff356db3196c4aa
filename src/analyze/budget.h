// How many traces may be in memory at one time.
#pragma once
#include <span>

#include "trace/job.h"

namespace spotter::analyze {

// Memory that a trace takes: 100 bytes an event, an event being 250 bytes of JSON. A guess good to a factor
// of two or so.
i64 estimated_memory(const TraceFile& file);

// Half of the machine's memory.
i64 default_memory_budget();

// The largest number such that any so many of the files fit into the budget (0: the default one); at least 1,
// at most `threads` and the number of files.
size_t loads_at_once(std::span<const TraceFile> files, int threads, i64 memory_bytes);

// How many distinct texts each of the files may have: what is made of them, tables with a row for each name,
// stays until all files are read, and is to take half of the budget at most. At least as many as ordinary
// traces have.
size_t most_texts(size_t files, i64 memory_bytes);

}  // namespace spotter::analyze
