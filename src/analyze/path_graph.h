// The graph of a window of a trace: what waited for what.
//
// Nodes are times at which something may have waited for something else; edges say for what:
//
//   host      a thread goes on, busy or idle
//   run       device work runs
//   launch    from the start of the host call to the start of what it launched
//   stream    from the end of device work to the start of the next on its stream
//   wait      the same across streams (Dependencies::awaited_by_row)
//   sync      from the end of device work to the end of the host call that waited for it; from the start of
//             device work to the end of a launch that waited for room in a full queue
//   thread    to a thread that worked while another one waited for it, and back (autograd's)
//   unknown   from the window's start to device work: what counts where its launch is not known, or was
//   before it end       to the window's end
//
// Each edge has the least time that it takes. Of the edges into a node the one that explains the latest time
// is its cause, and takes all the time up to the node. So a node's time is the latest, over its edges, of
// their node's time and theirs; and that same rule gives the times when some edges take longer or shorter.
#pragma once
#include <vector>

#include "analyze/dependencies.h"
#include "analyze/host_lane.h"

namespace spotter {

enum class EdgeKind : u8 { host, run, launch, stream, wait, sync, thread, unknown, end };

struct PathEdge {
  u32 from;
  EdgeKind kind;
  Ns time;    // as it was
  Ns scaled;  // as it would be with the what-if
};

struct PathNode {
  Ns time;
  u32 lane = kNone;       // of a host thread: index into lanes()
  EventId event = kNone;  // device work, or the host call that launches or waits there
  u32 first_edge = 0;     // its edges end where the next node's begin
};

// Where a window begins and ends. The end of the window is that of the mark or of the last device work that
// was launched before the mark's end, whichever is later.
struct Window {
  i64 step = 0;
  Ns start = 0, mark_end = 0;
  u32 main_track = 0;
};

class PathGraph {
 public:
  // `helpers`: tracks of threads that main waits for while they work.
  PathGraph(const Trace& trace, const Dependencies& dependencies, const Window& window,
            const std::vector<u32>& helpers, WhatIf& what_if);

  // By time; an edge leads to a later element. The first node is the window's start, the last its end.
  const std::vector<PathNode>& nodes() const { return nodes_; }
  std::span<const PathEdge> edges(u32 node) const;
  const std::vector<HostLane>& lanes() const { return lanes_; }
  Ns start() const { return window_.start; }
  Ns end() const { return end_; }

 private:
  friend class PathGraphBuilder;
  Window window_;
  Ns end_ = 0;
  std::vector<HostLane> lanes_;
  std::vector<PathNode> nodes_;
  std::vector<PathEdge> edges_;
};

}  // namespace spotter
