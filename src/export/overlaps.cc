#include "export/overlaps.h"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>

#include "export/flows.h"
#include "trace/per_kind.h"

namespace spotter::export_ {
namespace {

// The ends of the spans that are open on one line, the innermost last.
class Line {
 public:
  bool take(Ns start, Ns end) {
    while (!ends_.empty() && ends_.back() <= start) ends_.pop_back();
    if (!ends_.empty() && ends_.back() < end) return false;
    ends_.push_back(end);
    return true;
  }

 private:
  std::vector<Ns> ends_;
};

using Place = std::pair<u32, Ns>;  // track, time

// A span that starts at a place; of several the least is taken.
struct Candidate {
  bool is_moved;
  Ns dur;
  EventId span;
  u32 lane;
  auto operator<=>(const Candidate&) const = default;
};

// The spans that start at one place.
struct Starts {
  std::optional<Candidate> first;
  std::map<i64, Candidate> by_correlation;

  void add(const Candidate& c, std::optional<i64> correlation) {
    if (!first || c < *first) first = c;
    if (!correlation) return;
    const auto [known, is_new] = by_correlation.try_emplace(*correlation, c);
    if (!is_new) known->second = std::min(known->second, c);
  }
  u32 lane_of(std::optional<i64> flow) const {
    const auto found = flow ? by_correlation.find(*flow) : by_correlation.end();
    return found == by_correlation.end() ? first->lane : found->second.lane;
  }
};

}  // namespace

std::vector<Moved> find_overlaps(const Trace& trace) {
  const auto is_drawn = trace::per_kind(trace, [](const Kind& k) { return k.phase == 'X'; });
  std::vector<EventId> spans;
  for (EventId e = 0; e < trace.size(); ++e)
    if (is_drawn[trace.kind[e]]) spans.push_back(e);
  std::sort(spans.begin(), spans.end(), [&](EventId a, EventId b) {
    if (trace.track[a] != trace.track[b]) return trace.track[a] < trace.track[b];
    if (trace.ts[a] != trace.ts[b]) return trace.ts[a] < trace.ts[b];
    return trace.dur[a] != trace.dur[b] ? trace.dur[a] > trace.dur[b] : a < b;
  });

  std::vector<Moved> moved;
  std::vector<Line> lines;
  for (size_t i = 0; i < spans.size(); ++i) {
    const EventId e = spans[i];
    if (i == 0 || trace.track[spans[i - 1]] != trace.track[e]) lines.clear();
    u32 lane = 0;
    while (lane < lines.size() && !lines[lane].take(trace.ts[e], trace.end(e))) ++lane;
    if (lane == kMostLanes)
      --lane;
    else if (lane == lines.size())
      lines.emplace_back().take(trace.ts[e], trace.end(e));
    if (lane > 0) moved.push_back({e, lane});
  }
  std::sort(moved.begin(), moved.end(), [](const Moved& a, const Moved& b) { return a.event < b.event; });
  return moved;
}

std::vector<Moved> find_moved_flows(const Trace& trace, const std::vector<Moved>& spans) {
  if (spans.empty()) return {};
  std::map<Place, Starts> starts;  // of moved spans, and what else starts there
  std::vector<Moved>::const_iterator next = spans.begin();
  for (const Moved& span : spans) starts[{trace.track[span.event], trace.ts[span.event]}] = {};
  const auto kind = trace::per_kind(trace, [](const Kind& k) {
    return k.phase == 'X' ? 1 : is_flow_phase(k.phase) ? 2 : 0;
  });
  std::vector<EventId> flows;
  for (EventId e = 0; e < trace.size(); ++e) {
    const bool is_moved = next != spans.end() && next->event == e;
    const u32 lane = is_moved ? (next++)->lane : 0;
    if (kind[trace.kind[e]] == 0) continue;
    const auto place = starts.find({trace.track[e], trace.ts[e]});
    if (place == starts.end()) continue;
    if (kind[trace.kind[e]] == 1)
      place->second.add({lane != 0, trace.dur[e], e, lane}, trace.integer(e, Arg::correlation));
    else
      flows.push_back(e);
  }
  std::vector<Moved> moved;
  for (const EventId e : flows)
    if (const u32 lane = starts[{trace.track[e], trace.ts[e]}].lane_of(trace.integer(e, Arg::flow_id));
        lane > 0)
      moved.push_back({e, lane});
  return moved;
}

}  // namespace spotter::export_
