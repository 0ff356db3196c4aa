#include "trace/device_rows.h"

#include "trace/per_kind.h"

namespace spotter::trace {

namespace {

// Counters of the profiler; and what MTIA's streams do for events of other streams and of the host: wait, and
// tell.
bool is_no_work(Category category, std::string_view name) {
  if (category == Category::kernel) return name.starts_with("metrics: ");
  return category == Category::mtia_device && (name == "event_wait" || name == "event_record");
}

}  // namespace

std::vector<EventId> device_rows(const Trace& trace) {
  const auto is_work = per_kind(trace, [](const Kind& k) { return k.is_span && is_device_work(k.category); });
  std::vector<EventId> rows;
  for (EventId e = 0; e < trace.size(); ++e)
    if (is_work[trace.kind[e]] && !is_no_work(trace.category(e), trace.name_of(e))) rows.push_back(e);
  return rows;
}

}  // namespace spotter::trace
