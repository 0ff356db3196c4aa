// Metadata events (ph M): the names of processes and tracks, and their order. Ids are JSON; `ts` is in ns and
// says nothing to viewers: it is that of the first event, so that readers that look for it find no other.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "export/part.h"

namespace spotter::export_ {

std::string thread_name_event(std::string_view pid, std::string_view tid, Ns ts, std::string_view name);
std::string thread_sort_event(std::string_view pid, std::string_view tid, Ns ts, i64 index);

// The names of a merged rank's processes. `who`: "rank 3 host X". `order`: of the rank.
std::vector<std::string> process_events(const Part& part, const ProcessIds& processes, const std::string& who,
                                        i64 order);

}  // namespace spotter::export_
