#include "analyze/critical_path/path_graph.h"

#include <algorithm>
#include <tuple>

#include "trace/sort_runs.h"

namespace spotter::analyze {
namespace {

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

const PathGraph& PathGraphBuilder::build(const PathWindow& window) {
  window_ = window;
  graph_.start = window.start;
  graph_.nodes.clear();
  graph_.edges.clear();
  drafts_.clear();
  candidates_.clear();
  rows_.clear();
  launches_.clear();
  add_draft(window_.start, kStart, kNone, kNone);
  find_rows();
  add_lanes();
  for (u32 lane = 0; lane < graph_.lanes.size(); ++lane) add_calls(lane);
  for (u32 lane = 1; lane < graph_.lanes.size(); ++lane)
    if (std::ranges::binary_search(helpers_, graph_.lanes[lane].track())) join_main(lane);
  chain_lanes();
  for (const Row& row : rows_) explain_row(row);
  add_end();
  finish();
  return graph_;
}

u32 PathGraphBuilder::add_draft(Ns time, Order order, u32 lane, EventId event, u32 row) {
  drafts_.push_back({time, order, lane, 0, event, row, 0});
  return static_cast<u32>(drafts_.size() - 1);
}

u32 PathGraphBuilder::add_point(u32 lane, Ns time, Order order, EventId event, Ns idle) {
  const u32 draft = add_draft(time, order, lane, event);
  drafts_[draft].idle = idle;
  points_[lane].push_back(draft);
  return draft;
}

void PathGraphBuilder::add_edge(u32 from, u32 to, EdgeKind kind, Ns least) {
  candidates_.push_back({to, from, kind, least});
}

u32 PathGraphBuilder::find_row(u32 row) const {
  const auto found = std::ranges::lower_bound(rows_, row, {}, &Row::row);
  return found != rows_.end() && found->row == row ? static_cast<u32>(found - rows_.begin()) : kNone;
}

void PathGraphBuilder::find_rows() {
  graph_.end = window_.end.value_or(window_.mark_end);
  for (size_t s = 0; s < work_.streams.size(); ++s) {
    const u32 last = dependencies_.first_not_launched_before(s, window_.mark_end);
    for (u32 row = dependencies_.first_ending_after(s, window_.start); row < last; ++row) {
      const Ns launched = dependencies_.launched(row);
      if (launched >= window_.mark_end || work_.end[row] <= window_.start) continue;
      const bool is_own = launched >= window_.start;
      rows_.push_back({row, kNone, kNone, is_own});
      if (is_own && !window_.end) graph_.end = std::max(graph_.end, work_.end[row]);
    }
  }
  // What runs on beyond the window holds nothing in it up.
  std::erase_if(rows_, [&](const Row& r) { return work_.end[r.row] > graph_.end; });
  for (Row& r : rows_) {
    const Ns start = std::max(work_.start[r.row], window_.start), end = work_.end[r.row];
    r.start = add_draft(start, kWorkStart, kNone, work_.event[r.row], r.row);
    r.end = add_draft(end, end > start ? kWorkEnd : kEmptyWorkEnd, kNone, work_.event[r.row], r.row);
    if (r.is_own && work_.launch[r.row] != kNone) launches_.push_back({work_.launch[r.row], r.row});
  }
  std::ranges::sort(launches_, {}, [](const Launch& l) { return std::pair(l.call, l.row); });
}

void PathGraphBuilder::add_lanes() {
  std::vector<u32> tracks = helpers_;
  for (const Launch& launch : launches_)
    if (tracks.empty() || tracks.back() != trace_.track[launch.call])
      tracks.push_back(trace_.track[launch.call]);
  std::ranges::sort(tracks);
  const std::vector<trace::Nesting::Thread>& threads = trace_.nesting().threads;
  std::vector<const trace::Nesting::Thread*> wanted;
  for (const trace::Nesting::Thread& thread : threads)
    if (thread.track == window_.main_track) wanted.push_back(&thread);
  for (const trace::Nesting::Thread& thread : threads)
    if (thread.track != window_.main_track && std::ranges::binary_search(tracks, thread.track))
      wanted.push_back(&thread);
  graph_.lanes.resize(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    graph_.lanes[i].cut(trace_, *wanted[i], window_.start, window_.mark_end, what_if_);
  points_.resize(wanted.size());
  for (std::vector<u32>& points : points_) points.clear();
}

void PathGraphBuilder::add_calls(u32 lane) {
  for (const EventId call : graph_.lanes[lane].calls()) {
    const auto launched = std::ranges::equal_range(launches_, call, {}, &Launch::call);
    const Ns start = trace_.ts[call], end = trace_.end(call);
    const auto [cause, time] = awaited(call, launched);
    if (launched.empty() && cause == kNone) continue;
    const u32 begin = add_point(lane, start, kCallBegin, call);
    for (const auto& [launch, row] : launched) rows_[find_row(row)].launch = begin;
    if (cause == kNone || end > window_.mark_end) continue;
    const Ns waited = std::max<Ns>(0, time - start);
    const u32 point = add_point(lane, end, kCallEnd, call, waited);
    add_edge(cause, point, EdgeKind::sync, waited > 0 ? end - time : 0);
  }
}

std::pair<u32, Ns> PathGraphBuilder::awaited(EventId call, std::span<const Launch> launched) const {
  const u32 awaited = dependencies_.awaited_by_call(call);
  const u32 found = awaited == kNone ? kNone : find_row(awaited);
  if (found != kNone) return {rows_[found].end, work_.end[awaited]};
  for (const auto& [launch, own] : launched) {
    if (trace_.category(work_.event[own]) == Category::gpu_memcpy && work_.end[own] <= trace_.end(call))
      return {rows_[find_row(own)].end, work_.end[own]};
    const u32 maker = dependencies_.room_maker(own);
    const u32 room = maker == kNone ? kNone : find_row(maker);
    // Room that was there in time may be late with a what-if; without one it would be an edge for nothing.
    const bool may_matter = what_if_.is_set() || (room != kNone && work_.start[maker] > trace_.ts[call]);
    if (room != kNone && may_matter && work_.start[maker] <= trace_.end(call))
      return {rows_[room].start, work_.start[maker]};
  }
  return {kNone, 0};
}

void PathGraphBuilder::join_main(u32 helper) {
  const std::vector<Busy> other = busy_times(graph_.lanes[helper]);
  if (other.empty()) return;
  const std::vector<Busy> main = busy_times(graph_.lanes[0]);
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
    const u32 called = add_point(0, begin, kHandOver, kNone);
    const u32 began =
        add_point(helper, other[first].start, kTakeOver, kNone, other[first].start - idle_since);
    const u32 done = add_point(helper, other[next - 1].end, kHandOver, kNone);
    const u32 returned = add_point(0, end, kTakeOver, kNone, end - begin);
    add_edge(called, began, EdgeKind::thread, other[first].start - begin);
    add_edge(done, returned, EdgeKind::thread, end - other[next - 1].end);
  }
}

void PathGraphBuilder::chain_lanes() {
  if (!graph_.lanes.empty()) last_of_main_ = add_point(0, window_.mark_end, kMarkEnd, kNone);
  for (std::vector<u32>& points : points_) {
    trace::sort_runs(std::span(points), spare_points_, [&](u32 a, u32 b) {
      return std::tuple(drafts_[a].time, drafts_[a].order, a) <
             std::tuple(drafts_[b].time, drafts_[b].order, b);
    });
    u32 before = 0;
    for (u32 i = 0; i < points.size(); ++i) {
      Draft& draft = drafts_[points[i]];
      draft.place = i;
      const Ns dur = draft.time - drafts_[before].time;
      add_edge(before, points[i], EdgeKind::host, std::max<Ns>(0, dur - draft.idle));
      before = points[i];
    }
  }
}

void PathGraphBuilder::explain_row(const Row& row) {
  add_edge(row.start, row.end, EdgeKind::run, drafts_[row.end].time - drafts_[row.start].time);
  const auto add_after = [&](u32 earlier, EdgeKind kind) {
    const u32 source = earlier == kNone ? kNone : find_row(earlier);
    const Ns least = kind == EdgeKind::stream ? dependencies_.usual_gap() : 0;
    if (source != kNone) add_edge(rows_[source].end, row.start, kind, least);
  };
  add_after(dependencies_.before(row.row), EdgeKind::stream);
  awaited_.clear();
  dependencies_.awaited_by_row(row.row, awaited_);
  for (const u32 earlier : awaited_) add_after(earlier, EdgeKind::wait);
  if (row.launch != kNone)
    add_edge(row.launch, row.start, EdgeKind::launch, dependencies_.usual_launch_time());
  add_edge(0, row.start, EdgeKind::unknown, 0);
}

void PathGraphBuilder::add_end() {
  const u32 end = add_draft(graph_.end, kEnd, kNone, kNone);
  add_edge(0, end, EdgeKind::end, 0);
  if (!graph_.lanes.empty()) add_edge(last_of_main_, end, EdgeKind::end, 0);
  for (const Row& row : rows_)
    if (row.is_own) add_edge(row.end, end, EdgeKind::end, 0);
}

void PathGraphBuilder::put_in_order() {
  places_.clear();
  for (u32 i = 0; i < drafts_.size(); ++i)
    places_.push_back({drafts_[i].time, (u64{drafts_[i].order} << 32) + drafts_[i].place, i});
  trace::sort_runs(std::span(places_), spare_places_, [](const Place& a, const Place& b) {
    return a.time != b.time ? a.time < b.time : a.tie != b.tie ? a.tie < b.tie : a.draft < b.draft;
  });
  rank_.resize(places_.size());
  for (u32 i = 0; i < places_.size(); ++i) rank_[places_[i].draft] = i;
}

void PathGraphBuilder::finish() {
  put_in_order();
  first_.assign(drafts_.size() + 1, 0);  // candidates by node; in one node in the order they came
  for (const Candidate& c : candidates_) ++first_[rank_[c.to] + 1];
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  by_node_.resize(candidates_.size());
  next_ = first_;
  for (u32 i = 0; i < candidates_.size(); ++i) by_node_[next_[rank_[candidates_[i].to]]++] = i;

  for (u32 node = 0; node < places_.size(); ++node) {
    const Draft& draft = drafts_[places_[node].draft];
    graph_.nodes.push_back(
        {draft.time, draft.lane, draft.event, draft.row, static_cast<u32>(graph_.edges.size())});
    Ns explained = -kMaxTime;
    size_t cause = graph_.edges.size();
    for (u32 i = first_[node]; i < first_[node + 1]; ++i) {
      const Candidate& c = candidates_[by_node_[i]];
      if (rank_[c.from] >= node) continue;  // at the same time, the other way round
      const Ns from = drafts_[c.from].time;
      const Ns least = std::min(c.least, draft.time - from);
      if (from + least > explained) {
        explained = from + least;
        cause = graph_.edges.size();
      }
      graph_.edges.push_back({rank_[c.from], c.kind, least, 0});
    }
    if (cause < graph_.edges.size())
      graph_.edges[cause].time = draft.time - graph_.nodes[graph_.edges[cause].from].time;
    for (size_t i = graph_.nodes.back().first_edge; i < graph_.edges.size(); ++i)
      graph_.edges[i].scaled = scaled(graph_.edges[i], node);
  }
}

Ns PathGraphBuilder::scaled(const PathEdge& edge, u32 to) {
  if (!what_if_.is_set()) return edge.time;
  const PathNode& end = graph_.nodes[to];
  if (edge.kind == EdgeKind::run)
    return what_if_.fits(trace_, end.event) ? what_if_.scaled(edge.time) : edge.time;
  if (edge.kind != EdgeKind::host) return edge.time;
  // Where the thread also waited it did so first.
  return graph_.lanes[end.lane].scaled(end.time - edge.time, end.time);
}

}  // namespace spotter::analyze
