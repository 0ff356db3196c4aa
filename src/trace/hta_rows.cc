#include "trace/hta_rows.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_set>

#include "trace/microseconds.h"

namespace spotter::trace {
namespace {

bool is_mark(std::string_view name) { return name.starts_with("ProfilerStep"); }

// What HTA finds on no stream. With several steps it takes MTIA's rows to the stream that is their thread's
// number.
bool is_on_no_stream(const Trace& trace, EventId e, bool has_steps) {
  const Category category = trace.category(e);
  return is_device_work(category) && !trace.has(e, Arg::stream) &&
         !(has_steps && category == Category::mtia_device);
}

// The marks of steps among these rows.
struct Marks {
  bool are_several = false;
  Ns last = 0;  // its start
};

Marks marks_among(const Trace& trace, const std::vector<EventId>& rows) {
  std::set<StringId> names;
  std::optional<Ns> last;
  for (const EventId e : rows) {
    if (!is_mark(trace.name_of(e)) || is_device_row_to_hta(trace, e)) continue;
    names.insert(trace.name[e]);
    last = std::max(last.value_or(trace.ts[e]), trace.ts[e]);
  }
  return {names.size() >= 2, last.value_or(0)};
}

Ns ns(double microseconds) { return static_cast<Ns>(microseconds) * kMicrosecond; }
Ns rounded_up(Ns time) { return ns(std::ceil(microseconds(time))); }

}  // namespace

bool is_device_row_to_hta(const Trace& trace, EventId e) {
  const std::string_view name = trace.name_of(e);
  if (name == "Event Sync" || name == "Context Sync") return true;
  return trace.integer(e, Arg::stream).value_or(-1) >= 0 &&
         trace.integer(e, Arg::correlation).value_or(-1) >= 0;
}

bool hta_rounds(const Trace& trace) {
  return std::ranges::any_of(trace.ts, [](Ns time) { return time % kMicrosecond != 0; });
}

std::vector<EventId> rows_hta_reads(const Trace& trace) {
  std::vector<EventId> rows;
  for (EventId e = 0; e < trace.size(); ++e)
    if (trace.is_span(e) && trace.category(e) != Category::trace_span) rows.push_back(e);
  return rows;
}

std::vector<EventId> rows_hta_keeps(const Trace& trace, bool with_last_step, bool rounds) {
  std::vector<EventId> rows = rows_hta_reads(trace);
  const Marks marks = marks_among(trace, rows);
  if (!marks.are_several) return rows;
  const bool is_rounded = rounds && hta_rounds(trace);
  const auto start = [&](Ns time) { return is_rounded ? rounded_up(time) : time; };
  const auto is_in_time = [&](EventId e) { return with_last_step || start(trace.ts[e]) < start(marks.last); };
  std::unordered_set<i64> launched;
  for (const EventId e : rows)
    if (!is_device_row_to_hta(trace, e) && is_in_time(e) && !is_on_no_stream(trace, e, true))
      if (const auto correlation = trace.integer(e, Arg::correlation)) launched.insert(*correlation);
  std::erase_if(rows, [&](EventId e) {
    if (!is_device_row_to_hta(trace, e)) return !is_in_time(e);
    return !launched.contains(trace.integer(e, Arg::correlation).value_or(-1));
  });
  return rows;
}

TraceData as_hta_has(const Trace& trace, std::vector<EventId> rows, bool rounds, std::vector<EventId>& kept) {
  if (std::ranges::any_of(rows, [&](EventId e) { return is_on_no_stream(trace, e, false); })) {
    const bool has_steps = marks_among(trace, rows_hta_reads(trace)).are_several;
    std::erase_if(rows, [&](EventId e) { return is_on_no_stream(trace, e, has_steps); });
  }
  TraceData data = trace.copy(rows);
  kept = std::move(rows);
  if (!rounds || !hta_rounds(trace)) return data;
  for (size_t row = 0; row < data.ts.size(); ++row) {
    const double start = microseconds(data.ts[row]);
    data.ts[row] = rounded_up(data.ts[row]);
    data.dur[row] = ns(std::floor(start + microseconds(data.dur[row]))) - data.ts[row];
  }
  return data;
}

TracePtr as_hta_reads(const Trace& trace) {
  std::vector<EventId> kept;
  return std::make_unique<Trace>(as_hta_has(trace, rows_hta_keeps(trace, false, true), true, kept));
}

}  // namespace spotter::trace
