#include "analyze/path_graph.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace spotter {
namespace {

// Of nodes at one time, what ends comes before what it lets begin. Device work without duration ends after
// its start.
enum Order : u8 { kStart, kWorkEnd, kHost, kWorkStart, kEmptyWorkEnd, kEnd };
// The same on one thread.
enum PointOrder : u8 { kCallEnd, kJoin, kCallBegin, kLast };

struct Busy {
  Ns start, end;
};

// The times in which a thread is inside operators or host calls.
std::vector<Busy> busy_times(const HostLane& lane) {
  std::vector<Busy> busy;
  for (size_t i = 0; i < lane.segments().size(); ++i) {
    const HostSegment& segment = lane.segments()[i];
    if (!segment.is_busy) continue;
    if (!busy.empty() && busy.back().end == segment.start)
      busy.back().end = lane.segment_end(i);
    else
      busy.push_back({segment.start, lane.segment_end(i)});
  }
  return busy;
}

}  // namespace

class PathGraphBuilder {
 public:
  PathGraphBuilder(const Trace& trace, const Dependencies& dependencies, WhatIf& what_if, PathGraph& graph)
      : trace_(trace),
        work_(trace.device_work()),
        dependencies_(dependencies),
        what_if_(what_if),
        graph_(graph),
        window_(graph.window_) {}

  void build(const std::vector<u32>& helpers) {
    drafts_.push_back({window_.start, kStart, 0, 0, kNone, kNone, 0});
    find_rows();
    add_lanes(helpers);
    for (u32 lane = 0; lane < graph_.lanes_.size(); ++lane) add_calls(lane);
    for (u32 lane = 1; lane < graph_.lanes_.size(); ++lane)
      if (std::ranges::find(helpers, graph_.lanes_[lane].track()) != helpers.end()) join_main(lane);
    chain_lanes();
    for (const Row& row : rows_) explain_row(row);
    add_end();
    finish();
  }

 private:
  struct Draft {  // of a node
    Ns time;
    Order order;
    u32 lane, place;  // of its thread, and its place there
    u32 node_lane;
    EventId event;
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
  };
  struct Point {
    u32 draft;
    PointOrder order;
  };

  u32 add_draft(Ns time, Order order, u32 lane, EventId event) {
    drafts_.push_back({time, order, lane == kNone ? 0 : lane, 0, lane, event, 0});
    return static_cast<u32>(drafts_.size() - 1);
  }
  u32 add_point(u32 lane, Ns time, PointOrder order, EventId event, Ns idle = 0) {
    const u32 draft = add_draft(time, kHost, lane, event);
    drafts_[draft].idle = idle;
    points_[lane].push_back({draft, order});
    return draft;
  }
  void add_edge(u32 from, u32 to, EdgeKind kind, Ns least) { candidates_.push_back({to, from, kind, least}); }

  const Row* find_row(u32 row) const {
    const auto found = std::ranges::lower_bound(rows_, row, {}, &Row::row);
    return found != rows_.end() && found->row == row ? &*found : nullptr;
  }

  // Device work that was launched in the window, or before it and still runs.
  void find_rows() {
    graph_.end_ = window_.mark_end;
    for (size_t s = 0; s < work_.streams.size(); ++s) {
      const u32 last = dependencies_.first_not_launched_before(s, window_.mark_end);
      for (u32 row = dependencies_.first_ending_after(s, window_.start); row < last; ++row) {
        const Ns launched = dependencies_.launched(row);
        if (launched >= window_.mark_end || work_.end[row] <= window_.start) continue;
        const bool is_own = launched >= window_.start;
        rows_.push_back({row, kNone, kNone, is_own});
        if (is_own) graph_.end_ = std::max(graph_.end_, work_.end[row]);
        if (is_own && work_.launch[row] != kNone) launches_.emplace_back(work_.launch[row], row);
      }
    }
    std::ranges::sort(launches_);
    // What runs on beyond the window holds nothing in it up.
    std::erase_if(rows_, [&](const Row& r) { return work_.end[r.row] > graph_.end_; });
    for (Row& r : rows_) {
      const Ns start = std::max(work_.start[r.row], window_.start), end = work_.end[r.row];
      r.start = add_draft(start, kWorkStart, kNone, work_.event[r.row]);
      r.end = add_draft(end, end > start ? kWorkEnd : kEmptyWorkEnd, kNone, work_.event[r.row]);
    }
  }

  // The main thread, helpers, and threads that launch.
  void add_lanes(const std::vector<u32>& helpers) {
    std::vector<u32> tracks = helpers;
    for (const auto& [launch, row] : launches_)
      if (tracks.empty() || tracks.back() != trace_.track[launch]) tracks.push_back(trace_.track[launch]);
    std::ranges::sort(tracks);
    const auto add = [&](const Nesting::Thread& thread) {
      graph_.lanes_.emplace_back(trace_, thread, window_.start, window_.mark_end, what_if_);
    };
    const std::vector<Nesting::Thread>& threads = trace_.nesting().threads;
    for (const Nesting::Thread& thread : threads)
      if (thread.track == window_.main_track) add(thread);
    for (const Nesting::Thread& thread : threads)
      if (thread.track != window_.main_track && std::ranges::binary_search(tracks, thread.track)) add(thread);
    points_.resize(graph_.lanes_.size());
  }

  // Where a thread launches and where it waits for a device.
  void add_calls(u32 lane) {
    for (const EventId call : graph_.lanes_[lane].calls()) {
      const auto launched = std::ranges::equal_range(launches_, call, {}, &std::pair<EventId, u32>::first);
      const Ns start = trace_.ts[call], end = trace_.end(call);
      const auto [cause, time] = awaited(call, launched);
      if (launched.empty() && cause == kNone) continue;
      launch_point_[call] = add_point(lane, start, kCallBegin, call);
      if (cause == kNone || end > window_.mark_end) continue;
      const Ns waited = std::max<Ns>(0, time - start);
      const u32 point = add_point(lane, end, kCallEnd, call, waited);
      add_edge(cause, point, EdgeKind::sync, waited > 0 ? end - time : 0);
    }
  }

  // The draft that a host call waited for, and its time.
  template <class Launched>
  std::pair<u32, Ns> awaited(EventId call, const Launched& launched) const {
    const u32 awaited = dependencies_.awaited_by_call(call);
    if (awaited != kNone) {
      const Row* row = find_row(awaited);
      if (row) return {row->end, work_.end[awaited]};
    }
    for (const auto& [launch, own] : launched) {
      const Row* row = find_row(own);
      if (trace_.category(work_.event[own]) == Category::gpu_memcpy && work_.end[own] <= trace_.end(call))
        return {row->end, work_.end[own]};
      const u32 maker = dependencies_.room_maker(own);
      const Row* room = maker == kNone ? nullptr : find_row(maker);
      if (room && work_.start[maker] > trace_.ts[call] && work_.start[maker] <= trace_.end(call))
        return {room->start, work_.start[maker]};
    }
    return {kNone, 0};
  }

  // While the main thread was in no operator, the helper began to work and was done again: the main thread
  // waited for it.
  void join_main(u32 helper) {
    const std::vector<Busy> main = busy_times(graph_.lanes_[0]), other = busy_times(graph_.lanes_[helper]);
    size_t next = 0;  // of `other`
    for (size_t gap = 0; gap <= main.size(); ++gap) {
      const Ns begin = gap == 0 ? window_.start : main[gap - 1].end;
      const Ns end = gap == main.size() ? window_.mark_end : main[gap].start;
      if (begin >= end) continue;
      while (next < other.size() && other[next].start < begin) ++next;
      const Ns idle_since = next == 0 ? window_.start : other[next - 1].end;
      const size_t first = next;
      while (next < other.size() && other[next].end <= end) ++next;
      const bool goes_on = next < other.size() && other[next].start < end;
      if (first == next || idle_since > begin || goes_on) continue;
      const u32 called = add_point(0, begin, kJoin, kNone);
      const u32 began = add_point(helper, other[first].start, kJoin, kNone, other[first].start - idle_since);
      const u32 done = add_point(helper, other[next - 1].end, kJoin, kNone);
      const u32 returned = add_point(0, end, kJoin, kNone, end - begin);
      add_edge(called, began, EdgeKind::thread, other[first].start - begin);
      add_edge(done, returned, EdgeKind::thread, end - other[next - 1].end);
    }
  }

  // Each point of a thread comes after the one before it.
  void chain_lanes() {
    if (!graph_.lanes_.empty()) last_of_main_ = add_point(0, window_.mark_end, kLast, kNone);
    for (std::vector<Point>& points : points_) {
      const auto key = [&](const Point& p) { return std::tuple(drafts_[p.draft].time, p.order, p.draft); };
      std::ranges::sort(points, {}, key);
      u32 before = 0;
      for (u32 i = 0; i < points.size(); ++i) {
        const u32 draft = points[i].draft;
        drafts_[draft].place = i;
        const Ns dur = drafts_[draft].time - drafts_[before].time;
        add_edge(before, draft, EdgeKind::host, std::max<Ns>(0, dur - drafts_[draft].idle));
        before = draft;
      }
    }
  }

  void explain_row(const Row& row) {
    add_edge(row.start, row.end, EdgeKind::run, drafts_[row.end].time - drafts_[row.start].time);
    const auto add_after = [&](u32 earlier, EdgeKind kind) {
      if (const Row* source = earlier == kNone ? nullptr : find_row(earlier))
        add_edge(source->end, row.start, kind, 0);
    };
    add_after(dependencies_.before(row.row), EdgeKind::stream);
    awaited_.clear();
    dependencies_.awaited_by_row(row.row, awaited_);
    for (const u32 earlier : awaited_) add_after(earlier, EdgeKind::wait);
    const EventId launch = work_.launch[row.row];
    const auto point = launch == kNone ? launch_point_.end() : launch_point_.find(launch);
    if (row.is_own && point != launch_point_.end())
      add_edge(point->second, row.start, EdgeKind::launch, dependencies_.usual_launch_delay());
    add_edge(0, row.start, EdgeKind::unknown, 0);
  }

  void add_end() {
    const u32 end = add_draft(graph_.end_, kEnd, kNone, kNone);
    add_edge(0, end, EdgeKind::end, 0);
    if (!graph_.lanes_.empty()) add_edge(last_of_main_, end, EdgeKind::end, 0);
    for (const Row& row : rows_)
      if (row.is_own) add_edge(row.end, end, EdgeKind::end, 0);
  }

  // Puts the nodes in order, and of each node's edges makes the one that explains the latest time its cause.
  void finish() {
    std::vector<u32> order(drafts_.size()), rank(drafts_.size());
    for (u32 i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](u32 i) {
      const Draft& d = drafts_[i];
      return std::tuple(d.time, d.order, d.lane, d.place, i);
    });
    for (u32 i = 0; i < order.size(); ++i) rank[order[i]] = i;

    std::vector<u32> first(drafts_.size() + 1);  // candidates by node; in one node in the order they came
    for (const Candidate& c : candidates_) ++first[rank[c.to] + 1];
    for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    std::vector<u32> by_node(candidates_.size()), next = first;
    for (u32 i = 0; i < candidates_.size(); ++i) by_node[next[rank[candidates_[i].to]]++] = i;

    for (u32 node = 0; node < order.size(); ++node) {
      const Draft& draft = drafts_[order[node]];
      graph_.nodes_.push_back(
          {draft.time, draft.node_lane, draft.event, static_cast<u32>(graph_.edges_.size())});
      Ns explained = -kMaxTime;
      size_t cause = graph_.edges_.size();
      for (u32 i = first[node]; i < first[node + 1]; ++i) {
        const Candidate& c = candidates_[by_node[i]];
        if (rank[c.from] >= node) continue;  // at the same time, the other way round
        const Ns from = drafts_[c.from].time;
        const Ns least = std::min(c.least, draft.time - from);
        if (from + least > explained) {
          explained = from + least;
          cause = graph_.edges_.size();
        }
        graph_.edges_.push_back({rank[c.from], c.kind, least, 0});
      }
      if (cause < graph_.edges_.size())
        graph_.edges_[cause].time = draft.time - graph_.nodes_[graph_.edges_[cause].from].time;
      for (size_t i = graph_.nodes_.back().first_edge; i < graph_.edges_.size(); ++i)
        graph_.edges_[i].scaled = scaled(graph_.edges_[i], node);
    }
  }

  Ns scaled(const PathEdge& edge, u32 to) {
    if (!what_if_.is_set()) return edge.time;
    const PathNode &end = graph_.nodes_[to], &begin = graph_.nodes_[edge.from];
    if (edge.kind == EdgeKind::run)
      return what_if_.fits(trace_, end.event) ? what_if_.scaled(edge.time) : edge.time;
    if (edge.kind != EdgeKind::host) return edge.time;
    const Ns waited = end.time - begin.time - edge.time;
    return std::max<Ns>(0, graph_.lanes_[end.lane].scaled(begin.time, end.time) - waited);
  }

  const Trace& trace_;
  const DeviceWork& work_;
  const Dependencies& dependencies_;
  WhatIf& what_if_;
  PathGraph& graph_;
  const Window& window_;
  std::vector<Draft> drafts_;  // the first is the window's start
  std::vector<Candidate> candidates_;
  std::vector<Row> rows_;                          // ascending
  std::vector<std::pair<EventId, u32>> launches_;  // launch, row
  std::vector<std::vector<Point>> points_;         // per lane
  std::unordered_map<EventId, u32> launch_point_;  // draft
  std::vector<u32> awaited_;
  u32 last_of_main_ = 0;
};

PathGraph::PathGraph(const Trace& trace, const Dependencies& dependencies, const Window& window,
                     const std::vector<u32>& helpers, WhatIf& what_if)
    : window_(window) {
  PathGraphBuilder(trace, dependencies, what_if, *this).build(helpers);
}

std::span<const PathEdge> PathGraph::edges(u32 node) const {
  const size_t end = node + 1 < nodes_.size() ? nodes_[node + 1].first_edge : edges_.size();
  return std::span(edges_).subspan(nodes_[node].first_edge, end - nodes_[node].first_edge);
}

}  // namespace spotter
