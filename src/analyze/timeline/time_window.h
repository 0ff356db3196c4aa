// The part of a trace that a table of spans is of.
#pragma once
#include "analyze/analysis.h"
#include "trace/extent.h"

namespace spotter::analyze {

inline constexpr Param kFrom = {"from_ns", 0, "begin so long after the start of the trace"};
inline constexpr Param kTo = {"to_ns", 0, "end so long after the start of the trace; 0: with it"};

class TimeWindow {
 public:
  TimeWindow(const Trace& trace, const ParamValues& params)
      : start_(trace::extent_of(trace).start), from_(params[kFrom.name]), to_(params[kTo.name]) {}

  // Whether what runs in [start, end), or at start, is in it at least in part.
  bool has(Ns start, Ns end) const {
    const Ns last = start == end ? end : end - 1;  // of its ns
    return last - start_ >= from_ && (to_ == 0 || start - start_ < to_);
  }

 private:
  Ns start_, from_, to_;
};

}  // namespace spotter::analyze
