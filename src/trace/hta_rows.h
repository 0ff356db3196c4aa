// A trace as Holistic Trace Analysis 0.6.1 reads it: fewer rows, coarser times. For --compat hta only, so
// that its numbers can be checked against HTA's own; what differs from the exact ones, and why, is in
// docs/hta.md by the numbers used here.
#pragma once
#include <memory>

#include "trace/trace.h"

namespace spotter::trace {

// With two or more steps: host rows that start before the last mark of a step (a mark on a device counts as
// one of the host, B14), and device rows whose launch is among them, whatever they are (B3). Times with a
// fraction of a microseconds are rounded to whole ones: starts up, ends down, so that a short row may last -1
// us (B1). Reads Arg::correlation and stream.
std::unique_ptr<Trace> as_hta_reads(const Trace& trace);

}  // namespace spotter::trace
