// Arrows (flow events): those of a trace, and those that are added to it, such as a critical path.
#pragma once
#include <string>
#include <vector>

#include "trace/trace.h"

namespace spotter::export_ {

inline bool is_flow_phase(char phase) { return phase == 's' || phase == 't' || phase == 'f'; }

struct ExtraFlow {
  EventId from = 0;
  bool from_end = true;  // it leaves at the end of `from`, else at its start
  EventId to = 0;
  bool to_end = false;
  std::string name, category;  // of one way the same for all
  std::string args;            // a JSON object, or empty
};

// A viewer draws an arrow between spans: Perfetto takes, at each place, the span of the track that began
// last. An end of a span is taken one nanosecond earlier, since a span no longer encloses its end. So an
// arrow from the end of a span with others inside leaves the last of these.
Ns flow_time(const Trace& trace, EventId e, bool end);

}  // namespace spotter::export_
