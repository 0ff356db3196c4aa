// Spans that overlap on their track. Viewers draw a track as a stack of nested spans: of two that overlap in
// part, Perfetto puts the later one aside, and its older releases dropped it.
#pragma once
#include <vector>

#include "trace/trace.h"

namespace spotter {

struct MovedSpan {
  EventId event;
  u32 lane;  // 1, 2, ...: the further line of its track on which it overlaps none in part
};

// More lines than these no track gets: what fits none of them is put on the last.
inline constexpr u32 kMostLanes = 500;

// The spans that do not fit the first line of their track, ascending by event. Spans are taken by start, the
// longer first, and each goes to the first line where it nests in, or lies behind, what is there; equal spans
// nest.
std::vector<MovedSpan> find_overlaps(const Trace& trace);

}  // namespace spotter
