// A host thread within a window of time, cut into segments at each of which the innermost span changes: what
// the thread does when.
#pragma once
#include <vector>

#include "analyze/critical_path/what_if.h"
#include "trace/nesting.h"

namespace spotter::analyze {

struct HostSegment {
  Ns start;         // it ends where the next one starts
  EventId event;    // the innermost span; kNone where there is none
  bool is_busy;     // inside an operator, not an annotation, or a call of a device's runtime
  bool is_loading;  // inside a data loader's span
  bool is_scaled;   // inside a span that the what-if is about
};

class HostLane {
 public:
  // `thread`: of trace.nesting(). The window is not empty. May be called again, for another window: the
  // memory is used again.
  void cut(const Trace& trace, const trace::Nesting::Thread& thread, Ns start, Ns end, WhatIf& what_if);

  u32 track() const { return track_; }
  const std::vector<HostSegment>& segments() const { return segments_; }
  Ns segment_end(size_t i) const { return i + 1 < segments_.size() ? segments_[i + 1].start : end_; }
  // Of the segment at a time of the window, its end included.
  size_t segment_at(Ns time) const;

  // The host calls that start in the window, in order.
  const std::vector<EventId>& calls() const { return calls_; }

  // What the what-if makes of the time between two times of the window, at most kLatestTime.
  Ns scaled(Ns from, Ns to) const { return scaled_until(to) - scaled_until(from); }

 private:
  Ns scaled_until(Ns time) const;

  u32 track_ = kNone;
  Ns end_ = 0;
  const WhatIf* what_if_ = nullptr;
  std::vector<HostSegment> segments_;
  std::vector<EventId> calls_;
  std::vector<Ns> scaled_;  // per segment: time before it as scaled; empty without a what-if
};

}  // namespace spotter::analyze
