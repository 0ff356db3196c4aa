// Arrows that are added to a trace, such as a critical path.
#pragma once
#include <string>
#include <vector>

#include "trace/trace.h"

namespace spotter {

struct ExtraFlow {
  EventId from = 0;
  bool from_end = true;  // it leaves at the end of `from`, else at its start
  EventId to = 0;
  bool to_end = false;
  std::string name, category;  // of one way the same for all
  std::string args;            // a JSON object, or empty
};

// What the viewer shows is an arrow between the innermost spans at two places. An end of a span is taken one
// nanosecond earlier, since a span no longer encloses its end; of two spans that end together it is the inner
// one that the viewer takes.
Ns flow_time(const Trace& trace, EventId e, bool end);

}  // namespace spotter
