// GapCause: why a host launches nothing, where records beside its operators and calls say so: what CUPTI
// writes of itself and of the driver (category overhead), and the operators that torch.compile traces.
#pragma once
#include "analyze/replay/skeleton.h"
#include "analyze/time/intervals.h"
#include "trace/trace.h"

namespace spotter::analyze {

class GapCause {
 public:
  explicit GapCause(const Trace& trace);

  // recording: CUPTI works for half of [begin, end) or more, as where it needs a further buffer.
  // compilation: of a program with compiled regions the driver loads code within it, or operators run on
  // tensors without data, as they do where a graph is traced. Else silence.
  Cause of(Ns begin, Ns end) const;

 private:
  Union recorder_;
  Union compiler_;
};

}  // namespace spotter::analyze
