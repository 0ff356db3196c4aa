// The critical paths of a trace as arrows: where a path goes from one thread or stream to another, from one
// piece of device work to the next, and over what waited.
#pragma once
#include <vector>

#include "export/flows.h"

namespace spotter::export_ {

// Reads kCriticalPathArgs (analyze/critical_path/path_finder.h).
std::vector<ExtraFlow> critical_path_flows(const Trace& trace);

}  // namespace spotter::export_
