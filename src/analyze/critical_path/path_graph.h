// The graph of a window of a trace: what waited for what.
//
// Nodes are times at which something may have waited for something else; edges say for what:
//
//   host      a thread goes on, busy or idle
//   run       device work runs
//   launch    from the start of the host call to the start of what it launched
//   stream    from the end of device work to the start of the next on its stream: at least the usual gap
//   wait      the same across streams (Dependencies::awaited_by_row)
//   sync      from the end of device work to the end of the host call that waited for it; from the start of
//             device work to the end of a launch that waited for room in a full queue
//   thread    to a thread that worked while another one waited for it, and back (autograd's)
//   unknown   from the window's start to device work: counts where its launch is not known, or was before
//   end       to the window's end
//
// Each edge has the least time that it takes. Of the edges into a node the one that explains the latest time
// is its cause, and takes all the time up to the node. So a node's time is the latest, over its edges, of
// their node's time and theirs; and that same rule gives the times when some edges take longer or shorter.
#pragma once
#include <optional>
#include <vector>

#include "analyze/critical_path/dependencies.h"
#include "analyze/critical_path/host_lane.h"

namespace spotter::analyze {

enum class EdgeKind : u8 { host, run, launch, stream, wait, sync, thread, unknown, end };

struct PathEdge {
  u32 from;
  EdgeKind kind;
  Ns time;    // as it was
  Ns scaled;  // as it would be with the what-if
};

struct PathNode {
  Ns time;
  u32 lane = kNone;       // of a host thread: index into PathGraph::lanes
  EventId event = kNone;  // device work, or the host call that launches or waits there
  u32 row = kNone;        // of device work: its row of DeviceWork
  u32 first_edge = 0;     // its edges end where the next node's begin
};

// Where a window begins and ends: if nothing else is said with the mark or with the last device work that was
// launched before the mark's end, whichever is later.
struct PathWindow {
  i64 step = 0;
  Ns start = 0, mark_end = 0;
  u32 main_track = 0;
  std::optional<Ns> end = {};  // not before mark_end
};

struct PathGraph {
  Ns start = 0, end = 0;
  std::vector<PathNode> nodes;  // by time; the first is the window's start, the last its end
  std::vector<PathEdge> edges;  // by the node that they lead to; they come from earlier ones
  std::vector<HostLane> lanes;  // the main thread's is the first

  std::span<const PathEdge> edges_to(u32 node) const {
    const size_t last = node + 1 < nodes.size() ? nodes[node + 1].first_edge : edges.size();
    return std::span(edges).subspan(nodes[node].first_edge, last - nodes[node].first_edge);
  }
};

// Builds the graphs of windows, one after the other, in the same memory.
class PathGraphBuilder {
 public:
  // `helpers`: tracks of threads that the main one waits for while they work, ascending.
  PathGraphBuilder(const Trace& trace, const Dependencies& dependencies, std::vector<u32> helpers,
                   WhatIf& what_if)
      : trace_(trace),
        work_(trace.device_work()),
        dependencies_(dependencies),
        helpers_(std::move(helpers)),
        what_if_(what_if) {}

  // Valid until the next call.
  const PathGraph& build(const PathWindow& window);

 private:
  // Of nodes at one time, what ends comes before what it lets begin. Device work without duration ends after
  // its start.
  enum Order : u8 {
    kStart,
    kWorkEnd,
    kCallEnd,
    kHandOver,  // to another thread
    kTakeOver,  // from another thread
    kCallBegin,
    kMarkEnd,
    kWorkStart,
    kEmptyWorkEnd,
    kEnd
  };
  struct Draft {  // of a node
    Ns time;
    Order order;
    u32 lane;   // of a host thread, or kNone
    u32 place;  // there
    EventId event;
    u32 row;
    Ns idle;  // until this time the thread only waited, so long
  };
  struct Candidate {  // of an edge
    u32 to, from;     // drafts
    EdgeKind kind;
    Ns least;
  };
  struct Row {
    u32 row, start, end;  // of DeviceWork; drafts
    bool is_own;          // launched in the window
    u32 launch = kNone;   // draft
  };
  struct Launch {
    EventId call;
    u32 row;
  };
  struct Place {
    Ns time;
    u64 tie;
    u32 draft;
  };
  u32 add_draft(Ns time, Order order, u32 lane, EventId event, u32 row = kNone);
  u32 add_point(u32 lane, Ns time, Order order, EventId event, Ns idle = 0);
  void add_edge(u32 from, u32 to, EdgeKind kind, Ns least);
  // Index into rows_, or kNone.
  u32 find_row(u32 row) const;
  // Device work that was launched in the window, or before it and still runs.
  void find_rows();
  // The main thread, helpers, and threads that launch.
  void add_lanes();
  // Where a thread launches and where it waits for a device.
  void add_calls(u32 lane);
  // The draft that a host call waited for, and its time.
  std::pair<u32, Ns> awaited(EventId call, std::span<const Launch> launched) const;
  // While the main thread was in no operator, the helper began to work and was done again: the main thread
  // waited for it.
  void join_main(u32 helper);
  // Each point of a thread comes after the one before it.
  void chain_lanes();
  void explain_row(const Row& row);
  void add_end();
  // By time; threads and streams are ordered already.
  void put_in_order();
  // Puts the nodes in order, and of each node's edges makes the one that explains the latest time its cause.
  void finish();
  Ns scaled(const PathEdge& edge, u32 to);

  const Trace& trace_;
  const trace::DeviceWork& work_;
  const Dependencies& dependencies_;
  const std::vector<u32> helpers_;
  WhatIf& what_if_;
  PathWindow window_;
  PathGraph graph_;
  std::vector<Draft> drafts_;  // the first is the window's start
  std::vector<Candidate> candidates_;
  std::vector<Row> rows_;                 // ascending
  std::vector<Launch> launches_;          // by call, then row
  std::vector<std::vector<u32>> points_;  // per lane: drafts, in order
  std::vector<u32> awaited_, by_node_, first_, next_, rank_;
  std::vector<Place> places_, spare_places_;
  std::vector<u32> spare_points_;
  u32 last_of_main_ = 0;
};

}  // namespace spotter::analyze
