#include "trace/device_rows.h"

#include "trace/per_kind.h"

namespace spotter::trace {

std::vector<EventId> device_rows(const Trace& trace) {
  const auto is_work = per_kind(trace, [](const Kind& k) { return k.is_span && is_device_work(k.category); });
  std::vector<EventId> rows;
  for (EventId e = 0; e < trace.size(); ++e)
    if (is_work[trace.kind[e]] &&
        !(trace.category(e) == Category::kernel && trace.name_of(e).starts_with("metrics: ")))
      rows.push_back(e);
  return rows;
}

}  // namespace spotter::trace
