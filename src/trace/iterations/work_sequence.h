// Work sequence: what a trace's busiest launcher has a device do, in order, and where it waits for it. The
// order in which a loop's turns repeat themselves.
#pragma once
#include <vector>

#include "trace/trace.h"

namespace spotter::trace {

struct WorkItem {
  enum class What : u8 {
    work,          // a kernel, copy or set
    graph_launch,  // what the graph consists of follows
    sample,        // a kernel that chooses the next tokens
    copy_to_host,
    wait,  // of the host for the device
  };
  StringId name = 0;  // of the device work; of a graph's launch or a wait the call's
  What what = What::work;
  EventId event = 0;      // the call that launched it, the wait, or the work itself where no call is known
  Ns start = 0, end = 0;  // of that event
  Ns device = 0;          // how long the work runs
};

struct WorkSequence {
  std::vector<WorkItem> items;
  // Of all device time of the trace, that of these items; 1 in a trace without device work.
  double share = 0;
};

// Of the thread that launched the most device time, what it launched and where it waited, in the order of the
// calls. Where the launches of less than half of the device time are known: what the stream with the most
// device time ran, in order of time. In a trace without device work: the calls that launch, copy and wait of
// the thread that has most of them. Reads kDeviceWorkArgs.
WorkSequence work_sequence(const Trace& trace);

}  // namespace spotter::trace
