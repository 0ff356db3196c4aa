#include "analyze/critical_path/host_lane.h"

#include <algorithm>
#include <ranges>

#include "trace/annotations.h"
#include "trace/facts/data_loading.h"

namespace spotter::analyze {
namespace {

// Goes through the spans of a thread and says where the innermost one changes.
class Sweep {
 public:
  Sweep(const Trace& trace, Ns start, Ns end, WhatIf& what_if, std::vector<HostSegment>& segments)
      : trace_(trace), annotations_(trace), start_(start), end_(end), what_if_(what_if), segments_(segments) {
    mark(start);
  }

  // `parent`: index of the innermost span around it, or kNone.
  void open(u32 index, u32 parent, EventId e) {
    const Ns ts = std::max(trace_.ts[e], start_);
    if (trace_.end(e) <= ts) return;  // it has no time, and nothing inside
    close_until(ts);
    while (!open_.empty() && open_.back().index != parent) open_.pop_back();  // it overlaps, but holds not
    const Category category = trace_.category(e);
    HostSegment inside = open_.empty() ? HostSegment{} : open_.back().inside;
    inside.event = e;
    inside.is_busy |= is_host_call(category) || (category == Category::cpu_op && !annotations_.has(e));
    inside.is_loading |= trace::is_data_loading(trace_.name_of(e));
    inside.is_scaled |= what_if_.fits(trace_, e);
    open_.push_back({index, trace_.end(e), inside});
    mark(ts);
  }

  void finish() { close_until(end_); }

 private:
  struct Open {
    u32 index;
    Ns end;
    HostSegment inside;
  };

  void close_until(Ns time) {
    while (!open_.empty() && open_.back().end <= time) {
      const Ns at = open_.back().end;
      open_.pop_back();
      mark(at);
    }
  }

  // From now on the innermost open span counts.
  void mark(Ns time) {
    if (time >= end_) return;
    HostSegment segment = open_.empty() ? HostSegment{time, kNone, false, false, false} : open_.back().inside;
    // What overlaps its successor without holding it may end before that one's start was seen.
    segment.start = segments_.empty() ? start_ : std::max(time, segments_.back().start);
    if (!segments_.empty() && segments_.back().start == segment.start)
      segments_.back() = segment;
    else
      segments_.push_back(segment);
  }

  const Trace& trace_;
  const trace::Annotations annotations_;
  Ns start_, end_;
  WhatIf& what_if_;
  std::vector<HostSegment>& segments_;
  std::vector<Open> open_;
};

}  // namespace

void HostLane::cut(const Trace& trace, const trace::Nesting::Thread& thread, Ns start, Ns end,
                   WhatIf& what_if) {
  track_ = thread.track;
  end_ = end;
  what_if_ = &what_if;
  segments_.clear();
  calls_.clear();
  scaled_.clear();
  const trace::Nesting& nesting = trace.nesting();
  const auto order = std::span(nesting.order).subspan(thread.begin, thread.end - thread.begin);
  const auto first =
      std::lower_bound(order.begin(), order.end(), start, [&](EventId e, Ns t) { return trace.ts[e] < t; });
  const auto begin = static_cast<u32>(thread.begin + (first - order.begin()));

  // What is open at the start: the last span before it and those around that one.
  std::vector<u32> around;
  if (begin > thread.begin)
    for (u32 i = begin - 1; i != kNone; i = nesting.parent[i]) around.push_back(i);
  Sweep sweep(trace, start, end, what_if, segments_);
  for (const u32 i : std::ranges::reverse_view(around))
    if (trace.end(nesting.order[i]) > start) sweep.open(i, nesting.parent[i], nesting.order[i]);
  for (u32 i = begin; i < thread.end && trace.ts[nesting.order[i]] < end; ++i) {
    const EventId e = nesting.order[i];
    sweep.open(i, nesting.parent[i], e);
    if (is_host_call(trace.category(e))) calls_.push_back(e);
  }
  sweep.finish();

  if (!what_if.is_set()) return;
  Ns before = 0;
  for (size_t i = 0; i < segments_.size(); ++i) {
    scaled_.push_back(before);
    const Ns dur = segment_end(i) - segments_[i].start;
    before = std::min(before + (segments_[i].is_scaled ? what_if.scaled(dur) : dur), kLatestTime);
  }
}

size_t HostLane::segment_at(Ns time) const {
  const auto after = std::upper_bound(segments_.begin(), segments_.end(), time,
                                      [](Ns t, const HostSegment& s) { return t < s.start; });
  return static_cast<size_t>(after - segments_.begin()) - 1;
}

Ns HostLane::scaled_until(Ns time) const {
  if (scaled_.empty()) return time;
  const size_t i = segment_at(time);
  const Ns dur = time - segments_[i].start;
  return std::min(scaled_[i] + (segments_[i].is_scaled ? what_if_->scaled(dur) : dur), kLatestTime);
}

}  // namespace spotter::analyze
