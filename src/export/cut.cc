#include "export/cut.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

#include "analyze/run_files.h"
#include "export/flows.h"
#include "trace/per_kind.h"
#include "trace/steps.h"

namespace spotter::export_ {
namespace {

trace::Windows windows_of(const Trace& trace, const Cut& cut) {
  const trace::Window limit =
      cut.window.value_or(trace::Window{std::numeric_limits<Ns>::min(), std::numeric_limits<Ns>::max()});
  trace::Windows windows;
  const auto add = [&](Ns start, Ns end) {
    if (std::max(start, limit.start) < std::min(end, limit.end))
      windows.add(std::max(start, limit.start), std::min(end, limit.end));
  };
  if (!cut.steps) add(limit.start, limit.end);
  if (cut.steps)
    for (const trace::Step& step : trace.steps().steps)
      if (cut.steps->first <= step.number && step.number <= cut.steps->last) add(step.start, step.end);
  return windows;
}

// Where the spans of some rows are, by track.
class Spans {
 public:
  Spans(const Trace& trace, const std::vector<EventId>& rows) : by_track_(trace.tracks().size()) {
    const auto is_span = trace::per_kind(trace, [](const Kind& k) { return k.phase == 'X'; });
    for (const EventId e : rows)
      if (is_span[trace.kind[e]]) by_track_[trace.track[e]].push_back({trace.ts[e], trace.end(e)});
    for (std::vector<trace::Window>& spans : by_track_) {
      std::sort(spans.begin(), spans.end(),
                [](const trace::Window& a, const trace::Window& b) { return a.start < b.start; });
      for (size_t i = 1; i < spans.size(); ++i) spans[i].end = std::max(spans[i].end, spans[i - 1].end);
    }
  }

  bool any_at(u32 track, Ns ts) const {
    const std::vector<trace::Window>& spans = by_track_[track];
    const auto after = std::upper_bound(spans.begin(), spans.end(), ts,
                                        [](Ns wanted, const trace::Window& w) { return wanted < w.start; });
    return after != spans.begin() && ts <= std::prev(after)->end;
  }

 private:
  std::vector<std::vector<trace::Window>> by_track_;  // by start; `end` is the latest of all up to this one
};

struct FlowEnd {
  StringId category, name;
  i64 id;
  EventId event;
  auto flow() const { return std::tuple(category, name, id); }
};

std::vector<FlowEnd> flow_ends(const Trace& trace) {
  const auto is_flow = trace::per_kind(trace, [](const Kind& k) { return is_flow_phase(k.phase); });
  std::vector<FlowEnd> ends;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (!is_flow[trace.kind[e]]) continue;
    const std::string_view text = trace.text(e, Arg::flow_id).value_or("");
    const auto of_text = static_cast<i64>(std::hash<std::string_view>{}(text));
    ends.push_back(
        {trace.kind_of(e).category_text, trace.name[e], trace.integer(e, Arg::flow_id).value_or(of_text), e});
  }
  std::sort(ends.begin(), ends.end(), [](const FlowEnd& a, const FlowEnd& b) {
    return std::tuple(a.flow(), a.event) < std::tuple(b.flow(), b.event);
  });
  return ends;
}

}  // namespace

Result<std::vector<EventId>> rows_of(const Trace& trace, const Cut& cut) {
  if (cut.steps) TRY(analyze::check_steps(trace, *cut.steps));
  std::vector<EventId> rows = trace::rows_in(trace, windows_of(trace, cut));
  std::erase_if(rows, [&](EventId e) { return is_flow_phase(trace.kind_of(e).phase); });
  const Spans spans(trace, rows);
  const std::vector<FlowEnd> ends = flow_ends(trace);
  for (size_t first = 0, last = 0; first < ends.size(); first = last) {
    bool whole = true;
    for (; last < ends.size() && ends[last].flow() == ends[first].flow(); ++last)
      whole &= spans.any_at(trace.track[ends[last].event], trace.ts[ends[last].event]);
    if (!whole || last - first < 2) continue;
    for (size_t i = first; i < last; ++i) rows.push_back(ends[i].event);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace spotter::export_
