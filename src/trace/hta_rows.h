// A trace as Holistic Trace Analysis 0.6.1 reads it: fewer rows, coarser times. For --compat hta only, so
// that its numbers can be checked against HTA's own; what differs from the exact ones, and why, is in
// docs/hta.md by the numbers used here.
#pragma once
#include <vector>

#include "trace/trace.h"

namespace spotter::trace {

// With two or more steps: host rows that start before the last mark of a step (a mark on a device counts as
// one of the host, B14), and device rows whose launch is among them, whatever they are (B3). Device work
// without Arg::stream is left out (B4). Times with a fraction of a microsecond are rounded to whole ones:
// starts up, ends down, so that a short row may last -1 us (B1). Before that they are doubles of
// microseconds, as in HTA: if they count from 1970, these are 0.25 us apart. Reads Arg::correlation and
// stream.
TracePtr as_hta_reads(const Trace& trace);

// Its parts, for who lets users change the rows in between (python/core/hta.cc).
// All that are rows to HTA: spans but the profiler's own, ascending.
std::vector<EventId> rows_hta_reads(const Trace& trace);
// Of those what it keeps where there are two or more steps; else all. With the last step, only device rows
// without a launch are left out. `rounds`: what begins in one microsecond with the last mark begins with it.
std::vector<EventId> rows_hta_keeps(const Trace& trace, bool with_last_step, bool rounds);
// These rows but device work without a stream, with HTA's times or exact ones. `kept` gets the rows.
TraceData as_hta_has(const Trace& trace, std::vector<EventId> rows, bool rounds, std::vector<EventId>& kept);
// What HTA takes for a row of the device.
bool is_device_row_to_hta(const Trace& trace, EventId e);
// Some start has a fraction of a microsecond, so that HTA rounds.
bool hta_rounds(const Trace& trace);

}  // namespace spotter::trace
