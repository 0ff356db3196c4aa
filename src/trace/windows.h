// Parts of a trace's time, and the rows that belong to them.
#pragma once
#include <vector>

#include "trace/trace.h"

namespace spotter::trace {

struct Window {
  Ns start = 0, end = 0;  // [start, end)
};

// Disjoint, ascending.
class Windows {
 public:
  void add(Ns start, Ns end);  // by start; those that overlap or touch become one
  bool contain(Ns ts) const;

 private:
  std::vector<Window> all_;
};

// The rows of the windows, ascending: host rows that start inside one of them, device rows whose launch does
// (rows without a known launch by their own start), metadata always. Flow and instant events count by their
// own time. Reads Arg::correlation.
std::vector<EventId> rows_in(const Trace& trace, const Windows& windows);

}  // namespace spotter::trace
