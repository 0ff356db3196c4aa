// The queue of a stream: what was launched and has not begun to run.
#pragma once
#include <vector>

#include "trace/device_work.h"
#include "trace/trace.h"

namespace spotter::analyze {

// A stream with so much launched work makes the host wait: CUDA's limit.
inline constexpr u32 kQueueLimit = 1024;

// Where the length changes.
struct QueuePoint {
  Ns time;
  i64 length;     // from then on
  EventId event;  // the launch or the piece of device work
};

// +1 at the start of the host call for each row that it launched, -1 at the start of the row; at one time
// launches come first. Rows without a known launch are left out. Two points per row, ascending; the last
// length is 0.
std::vector<QueuePoint> queue_points(const Trace& trace, const trace::Stream& stream);

}  // namespace spotter::analyze
