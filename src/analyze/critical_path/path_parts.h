// What bounds each moment of a critical path, in the parts that steps are divided into (steps/step_parts.h).
#pragma once
#include <vector>

#include "analyze/critical_path/path_finder.h"
#include "analyze/steps/step_parts.h"

namespace spotter::analyze {

struct PartPiece {
  Ns start, end;
  StepPart part;
  bool is_latency;  // of other: the device's own, while nobody works
  bool is_like(const PartPiece& o) const { return part == o.part && is_latency == o.is_latency; }
};

class PathParts {
 public:
  // `trace` outlives it. Reads kStepPartArgs.
  explicit PathParts(const Trace& trace);

  // The time from `start` to `end`, without gap: pieces that follow each other, neighbours of one kind
  // joined. What the path does not cover is other. Valid until the next call.
  //
  // Device work is what it is. A thread is, at each moment, the first part that a span around the moment has.
  // Of a launch that held its work up the call counts as such a span, then it is latency, as it is from the
  // end of device work to the start of what waited for it. A host call that waited for device work counts
  // from that one's end to its own. Handing over to another thread is other, and so is what nothing explains.
  const std::vector<PartPiece>& divide(const CriticalPath& path, Ns start, Ns end);

 private:
  void add(const PathPiece& piece);
  void add(StepPart part, Ns end, bool is_latency = false);

  const Trace& trace_;
  std::vector<StepPart> around_;  // of each span of the host, the first part of it and the spans around it
  Ns at_ = 0, end_ = 0;           // divided until, and to be
  std::vector<PartPiece> pieces_;
};

}  // namespace spotter::analyze
