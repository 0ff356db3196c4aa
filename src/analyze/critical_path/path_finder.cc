#include "analyze/critical_path/path_finder.h"

#include <algorithm>
#include <array>
#include <ranges>

#include "analyze/operators/threads.h"
#include "base/saturated.h"
#include "trace/extent.h"

namespace spotter::analyze {

const char* bound_name(BoundBy bound) {
  constexpr std::array kNames = {"compute",         "communication", "host operators", "host gaps",
                                 "data loading",    "memory",        "kernel gaps",    "launches",
                                 "synchronization", "unknown"};
  static_assert(kNames.size() == kBounds);
  return kNames[static_cast<size_t>(bound)];
}

namespace {

std::vector<PathWindow> windows_of(const Trace& trace) {
  std::vector<PathWindow> windows;
  const u32 track = main_track(trace);
  for (const trace::Step& step : trace.steps().steps)
    if (step.start < step.end) windows.push_back({step.number, step.start, step.end, track});
  if (!windows.empty() || !trace.steps().steps.empty()) return windows;
  const trace::Extent extent = trace::extent_of(trace);
  if (extent.known() && extent.start < extent.end) windows.push_back({0, extent.start, extent.end, track});
  return windows;
}

BoundBy bound_of(trace::WorkKind kind) {
  switch (kind) {
    case trace::WorkKind::compute:
      return BoundBy::compute;
    case trace::WorkKind::communication:
      return BoundBy::communication;
    case trace::WorkKind::memory:
      return BoundBy::memory;
  }
  return BoundBy::unknown;
}

class PathFinder {
 public:
  PathFinder(const Trace& trace, const WhatIf& what_if) : trace_(trace), what_if_(what_if) {}

  // Valid until the next call. Windows come by start.
  const CriticalPath& find(const PathWindow& window, const PathGraph& graph) {
    graph_ = &graph;
    reach();
    path_.step = window.step;
    path_.start = graph.start;
    path_.length = graph.end - graph.start;
    path_.what_if_length = time_.back() - graph.start;
    path_.own_start = std::clamp(covered_until_, graph.start, time_.back());
    covered_until_ = std::max(covered_until_, time_.back());
    path_.pieces.clear();
    nodes_.clear();
    for (u32 node = static_cast<u32>(time_.size()) - 1; cause_[node]; node = cause_[node]->from)
      nodes_.push_back(node);
    for (const u32 node : std::ranges::reverse_view(nodes_)) append(node, *cause_[node], path_.pieces);
    return path_;
  }

 private:
  // When each node is reached, and by which of its edges.
  void reach() {
    const size_t n = graph_->nodes.size();
    time_.assign(n, graph_->start);
    cause_.assign(n, nullptr);
    for (u32 node = 0; node < n; ++node) {
      for (const PathEdge& edge : graph_->edges_to(node)) {
        const Ns time = std::min(add_saturated(time_[edge.from], edge.scaled), kLatestTime);
        if (cause_[node] && time <= time_[node]) continue;
        time_[node] = time;
        cause_[node] = &edge;
      }
    }
  }

  void append(u32 node, const PathEdge& edge, std::vector<PathPiece>& pieces) const {
    const EventId from = graph_->nodes[edge.from].event, to = graph_->nodes[node].event;
    const auto add = [&](BoundBy bound, EventId event, EventId until) {
      if (edge.scaled > 0) pieces.push_back({time_[edge.from], edge.scaled, bound, event, until});
    };
    switch (edge.kind) {
      case EdgeKind::host:
        return append_host(node, edge, pieces);
      case EdgeKind::run:
        return add(bound_of(trace_.device_work().kind[graph_->nodes[node].row]), to, kNone);
      case EdgeKind::launch:
        return add(BoundBy::launches, from, to);
      case EdgeKind::stream:
      case EdgeKind::wait:
        return add(BoundBy::kernel_gaps, from, to);
      case EdgeKind::sync:
        return add(BoundBy::synchronization, from, to);
      case EdgeKind::thread:
        return add(BoundBy::host_gaps, from, to);
      case EdgeKind::unknown:
      case EdgeKind::end:
        return add(BoundBy::unknown, from, to);
    }
  }

  // What the thread does before the node; what it waited before that is left out.
  void append_host(u32 node, const PathEdge& edge, std::vector<PathPiece>& pieces) const {
    const HostLane& lane = graph_->lanes[graph_->nodes[node].lane];
    const Ns end = graph_->nodes[node].time, begin = end - edge.time;
    Ns left = edge.scaled, at = time_[edge.from];
    for (size_t i = lane.segment_at(begin); i < lane.segments().size() && left > 0; ++i) {
      const HostSegment& segment = lane.segments()[i];
      const Ns from = std::max(begin, segment.start), until = std::min(end, lane.segment_end(i));
      if (from >= end) break;
      const Ns dur = std::min(left, what_if_.is_set() ? lane.scaled(from, until) : until - from);
      if (dur <= 0) continue;
      const BoundBy bound = segment.is_loading ? BoundBy::data_loading
                            : segment.is_busy  ? BoundBy::host_operators
                                               : BoundBy::host_gaps;
      if (!pieces.empty() && pieces.back().event == segment.event && pieces.back().bound == bound &&
          pieces.back().to == kNone)
        pieces.back().dur += dur;
      else
        pieces.push_back({at, dur, bound, segment.event, kNone});
      at = add_saturated(at, dur);
      left -= dur;
    }
  }

  const Trace& trace_;
  const PathGraph* graph_ = nullptr;
  const WhatIf& what_if_;
  std::vector<Ns> time_;  // per node
  std::vector<const PathEdge*> cause_;
  std::vector<u32> nodes_;        // of the path, the last first
  Ns covered_until_ = -kMaxTime;  // by the paths so far
  CriticalPath path_;
};

}  // namespace

void for_each_critical_path(const Trace& trace, WhatIf& what_if,
                            const std::function<void(const CriticalPath& path)>& use) {
  for_each_critical_path(trace, windows_of(trace), what_if, use);
}

void for_each_critical_path(const Trace& trace, std::span<const PathWindow> windows, WhatIf& what_if,
                            const std::function<void(const CriticalPath& path)>& use) {
  if (windows.empty()) return;
  const Dependencies dependencies(trace);
  PathGraphBuilder builder(trace, dependencies, autograd_tracks(trace), what_if);
  PathFinder finder(trace, what_if);
  for (const PathWindow& window : windows) use(finder.find(window, builder.build(window)));
}

}  // namespace spotter::analyze
