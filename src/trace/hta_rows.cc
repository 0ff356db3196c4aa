#include "trace/hta_rows.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_set>

#include "trace/microseconds.h"

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

// What HTA finds on no stream. With several steps it takes MTIA's rows to the stream that is their thread's
// number.
bool is_on_no_stream(const Trace& trace, EventId e, bool has_steps) {
  const Category category = trace.category(e);
  return is_device_work(category) && !trace.has(e, Arg::stream) &&
         !(has_steps && category == Category::mtia_device);
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
  const bool has_steps = marks.size() >= 2;
  std::erase_if(keep, [&](EventId e) { return is_on_no_stream(trace, e, has_steps); });
  if (!has_steps) return keep;
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

Ns ns(double microseconds) { return static_cast<Ns>(microseconds) * kMicrosecond; }

}  // namespace

TracePtr as_hta_reads(const Trace& trace) {
  TraceData data = trace.copy(kept_rows(trace));
  const auto has_fraction = [](Ns time) { return time % kMicrosecond != 0; };
  if (std::ranges::any_of(trace.ts, has_fraction)) {
    for (size_t row = 0; row < data.ts.size(); ++row) {
      const double start = microseconds(data.ts[row]);
      data.ts[row] = ns(std::ceil(start));
      data.dur[row] = ns(std::floor(start + microseconds(data.dur[row]))) - data.ts[row];
    }
  }
  return std::make_unique<Trace>(std::move(data));
}

}  // namespace spotter::trace
