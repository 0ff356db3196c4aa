// Nesting: which host span encloses which, per thread. Host spans are operators, annotations, Python
// functions and runtime or driver calls (is_host_span). A span's parent is the innermost one on its track
// that contains it whole; the innermost of several is the last in `order`. Spans that merely overlap are
// siblings and counted. Equal intervals nest in the order user_annotation, python_function, cpu_op, host
// call, then file order (the writers emit parents so).
#pragma once
#include <vector>

#include "trace/trace.h"

namespace spotter::trace {

struct Nesting {
  std::vector<EventId> order;  // host spans, by track, each track in order (ts, longest first, see above):
                               // a parent always comes before its children
  std::vector<u32> parent;     // per element of `order`: index into `order`, or kNone
  struct Thread {
    u32 track, begin, end;
  };  // elements [begin, end) of `order`
  std::vector<Thread> threads;
  i64 partial_overlaps = 0;  // spans that begin inside an earlier sibling and end after it
};

Nesting compute_nesting(const Trace& trace);

}  // namespace spotter::trace
