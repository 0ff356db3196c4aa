// Iterations: the turns of a loop that no annotation marks, as inference engines run it: prefill or decode,
// then the choice of tokens, which the host reads. They are found in the sequence of what a thread launches
// (work_sequence.h), in one of two ways.
//
// Turns: some event ends each of them. That is a call that waits for the device, else a copy to the host,
// else a kernel that chooses tokens: of several the one of the kind named first that qualifies, of one kind
// the most frequent. It qualifies if there are at least three turns, half of them or more consist of the same
// sequence of work as another one, at least two kernels or launches of graphs occur exactly once in each (in
// a trace without device work one), and they hold half of the device time or more. Copies to the host and the
// like that follow it directly are still of its turn. What comes before the first such event is a turn if it
// begins as the others do; what follows the last one, if it does the same work as another.
//
// Else a period: a sequence of at least kLeastPeriod pieces of work that repeats itself exactly, three times
// or more, to the end of the trace, with half of the device time or more. It is divided where gaps are long.
//
// An iteration lasts from the start of its first launch, or of the outermost span around that which began
// after the turn before, to the start of the next; the last one to the end of its last call, or of the span
// around that. Times of work whose launches are not known are the device's. What is cut off at either end is
// none.
//
// Calls alone tell little: a trace without device work has iterations only if half of them launch a graph. A
// trace with a backward pass has none: its loop is another.
//
// Linear in the number of events but for sorting.
#pragma once
#include <vector>

#include "trace/trace.h"
#include "trace/windows.h"

namespace spotter::trace {

inline constexpr size_t kLeastIterations = 3, kLeastPeriod = 8;

struct Iterations {
  std::vector<Window> windows;  // by time, disjoint; empty: none were found
  bool from_graphs = false;     // half of them or more launch a graph
  StringId mark = 0;            // the call that launches the graphs, else the work or the call that ends each
};

Iterations find_iterations(const Trace& trace);  // reads kDeviceWorkArgs

}  // namespace spotter::trace
