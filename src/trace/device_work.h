// Device work: every kernel, copy and set of a trace, grouped by stream and ordered by time inside each
// stream. Categories decide (device_rows.h); synchronisation rows, annotations and host operators with a
// stream argument are not device work. Rows of one stream may overlap (graph branches, programmatic dependent
// launch): never assume they do not.
#pragma once
#include <vector>

#include "trace/classify.h"
#include "trace/trace.h"

namespace spotter::trace {

struct Stream {
  i64 device = 0;          // args.device, else pid
  i64 stream = 0;          // args.stream, else tid
  u32 begin = 0, end = 0;  // rows [begin, end) of DeviceWork
};

struct DeviceWork {
  // One element per row, sorted by (device, stream), then (ts, end, event).
  std::vector<EventId> event;
  std::vector<EventId> launch;  // kNone where unknown
  // Start of its launch. Where that is not in the trace it is the latest time that it can have been: a stream
  // runs in the order of the launches, so it was launched before what comes after it there, and before it
  // began.
  std::vector<Ns> launched;
  std::vector<WorkKind> kind;
  std::vector<Ns> start, end;
  std::vector<Stream> streams;  // ascending by (device, stream)
  i64 inferred_launches = 0;    // rows without a launch of which later rows tell when they were launched
};

// The arguments behind Trace::device_work() and Trace::links().
inline const ArgSet kDeviceWorkArgs = {Arg::correlation, Arg::device, Arg::stream, Arg::collective_name};

DeviceWork compute_device_work(const Trace& trace);

}  // namespace spotter::trace
