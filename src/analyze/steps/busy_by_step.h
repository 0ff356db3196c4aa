// How long each step keeps devices busy.
#pragma once
#include <vector>

#include "trace/trace.h"

namespace spotter::analyze {

// Of each of the trace's steps, the length of the union of all device work whose launch starts inside it (of
// work without a known launch, whose own start lies in it), on all devices and streams, not cut at the step's
// end. Reads trace::kDeviceWorkArgs and kStepArgs.
std::vector<Ns> busy_by_step(const Trace& trace);

}  // namespace spotter::analyze
