// Clocks of hosts whose traces do not name the groups of collectives (PyTorch before 2.4).
#pragma once
#include <vector>

#include "analyze/replay/job_program.h"

namespace spotter::analyze {

struct ClockEdge {
  u32 first, second;  // hosts
  Ns ahead;           // of the second one's clock
  Ns varies;          // median deviation of what that was taken from
};

// Between hosts, each by its ranks: streams of one group have as many collectives, of the same operations,
// and each ends on both at once. Of all streams of two hosts that are alike the two whose ends are apart most
// evenly tell; nothing does where even these vary by more than 10 µs. The most even first.
std::vector<ClockEdge> unnamed_clock_edges(const JobProgram& job, const std::vector<std::vector<u32>>& hosts);

}  // namespace spotter::analyze
