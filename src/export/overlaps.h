// Spans that overlap on their track. Viewers draw a track as a stack of nested spans: of two that overlap in
// part, Perfetto puts the later one aside, and its older releases dropped it.
#pragma once
#include <vector>

#include "trace/trace.h"

namespace spotter::export_ {

struct Moved {
  EventId event;
  u32 lane;  // 1, 2, ...: the further line of its track
};

// More lines than these no track gets: what fits none of them is put on the last.
inline constexpr u32 kMostLanes = 500;

// The spans that do not fit the first line of their track, ascending by event. Spans are taken by start, the
// longer first, and each goes to the first line where it nests in, or lies behind, what is there; equal spans
// nest.
std::vector<Moved> find_overlaps(const Trace& trace);

// The ends of flows that belong to moved spans and must go with them, ascending by event: those at the start
// of such a span. Where several spans start there, it is the one whose correlation is the flow's id, else the
// shortest on the first line, else the shortest. Reads Arg::flow_id and correlation.
std::vector<Moved> find_moved_flows(const Trace& trace, const std::vector<Moved>& spans);

}  // namespace spotter::export_
