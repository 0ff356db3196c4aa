// What a rank's host did that its program consists of, in order of time, whatever the thread. Threads that
// launch nothing are left out, but for the one of the steps' marks.
#pragma once
#include <vector>

#include "analyze/critical_path/dependencies.h"
#include "analyze/replay/skeleton.h"
#include "trace/device_work.h"
#include "trace/steps.h"
#include "trace/trace.h"

namespace spotter::analyze {

struct HostItem {
  // Of equal times in this order. issue, arrival: of a call of a thread of the host (host_calls.h).
  enum class Kind : u8 { end, step, pause, sync, issue, arrival, launch };
  Kind kind = Kind::launch;
  Cause cause = Cause::none;
  Ns begin = 0, end = 0;
  EventId event = kNone;     // the call or span; kNone: a mark, or work without a known launch
  u32 first = 0, count = 0;  // of launch, sync: into HostItems::rows; of issue, arrival: which call
  i64 step = 0;              // of step: its number
};

struct HostItems {
  std::vector<HostItem> items;
  std::vector<u32> rows;    // of DeviceWork: what an item launched, by start; what it waited for
  std::vector<u32> tracks;  // of the threads, ascending
  Ns usual_call = 0;        // median duration of a launch call
};

inline const ArgSet kHostItemArgs = kDependencyArgs | trace::kStepArgs;

// Reads kHostItemArgs.
HostItems host_items(const Trace& trace, const Dependencies& dependencies);

// What a span of the host means for its device, if it is not a launch.
Cause cause_of_span(std::string_view name, Category category);

}  // namespace spotter::analyze
