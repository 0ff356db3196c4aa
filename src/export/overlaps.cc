#include "export/overlaps.h"

#include <algorithm>

#include "trace/per_kind.h"

namespace spotter {
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

}  // namespace

std::vector<MovedSpan> find_overlaps(const Trace& trace) {
  const auto is_drawn = per_kind(trace, [](const Kind& k) { return k.phase == 'X'; });
  std::vector<EventId> spans;
  for (EventId e = 0; e < trace.size(); ++e)
    if (is_drawn[trace.kind[e]]) spans.push_back(e);
  std::sort(spans.begin(), spans.end(), [&](EventId a, EventId b) {
    if (trace.track[a] != trace.track[b]) return trace.track[a] < trace.track[b];
    if (trace.ts[a] != trace.ts[b]) return trace.ts[a] < trace.ts[b];
    return trace.dur[a] != trace.dur[b] ? trace.dur[a] > trace.dur[b] : a < b;
  });

  std::vector<MovedSpan> moved;
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
  std::sort(moved.begin(), moved.end(),
            [](const MovedSpan& a, const MovedSpan& b) { return a.event < b.event; });
  return moved;
}

}  // namespace spotter
