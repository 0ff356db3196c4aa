#include "trace/hta_rows.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/time.h"

namespace spotter::trace {
namespace {

bool is_mark(std::string_view name) { return name.starts_with("ProfilerStep"); }

// What HTA takes for a row of the device here.
bool is_device_row(const Trace& trace, EventId e) {
  const std::string_view name = trace.name_of(e);
  if (name == "Event Sync" || name == "Context Sync") return true;
  return trace.integer(e, Arg::stream).value_or(-1) >= 0 &&
         trace.integer(e, Arg::correlation).value_or(-1) >= 0;
}

std::vector<EventId> kept_rows(const Trace& trace) {
  std::vector<EventId> keep;
  std::set<StringId> marks;
  std::optional<Ns> last;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (!trace.is_span(e) || trace.category(e) == Category::trace_span) continue;
    keep.push_back(e);
    if (!is_mark(trace.name_of(e)) || is_device_row(trace, e)) continue;
    marks.insert(trace.name[e]);
    last = std::max(last.value_or(trace.ts[e]), trace.ts[e]);
  }
  if (marks.size() < 2) return keep;
  std::unordered_set<i64> launched;
  for (const EventId e : keep)
    if (!is_device_row(trace, e) && trace.ts[e] < *last)
      if (const auto correlation = trace.integer(e, Arg::correlation)) launched.insert(*correlation);
  std::erase_if(keep, [&](EventId e) {
    if (!is_device_row(trace, e)) return trace.ts[e] >= *last;
    return !launched.contains(trace.integer(e, Arg::correlation).value_or(-1));
  });
  return keep;
}

Ns rounded_down(Ns time) {
  const Ns rest = time % kMicrosecond;
  return time - (rest < 0 ? rest + kMicrosecond : rest);
}
Ns rounded_up(Ns time) { return -rounded_down(-time); }

}  // namespace

std::unique_ptr<Trace> as_hta_reads(const Trace& trace) {
  TraceData data = trace.copy(kept_rows(trace));
  const auto has_fraction = [](Ns time) { return time % kMicrosecond != 0; };
  if (std::ranges::any_of(trace.ts, has_fraction)) {
    for (size_t row = 0; row < data.ts.size(); ++row) {
      const Ns end = rounded_down(data.ts[row] + data.dur[row]);
      data.ts[row] = rounded_up(data.ts[row]);
      data.dur[row] = end - data.ts[row];
    }
  }
  return std::make_unique<Trace>(std::move(data));
}

}  // namespace spotter::trace
