#include "trace/steps.h"
#include "trace/windows.h"

namespace spotter::trace {

std::unique_ptr<Trace> select_steps(const Trace& trace, i64 first, i64 last) {
  Steps wanted = trace.steps();
  std::erase_if(wanted.steps, [&](const Step& s) { return s.number < first || s.number > last; });
  Windows windows;
  for (const Step& step : wanted.steps) windows.add(step.start, step.end);
  const std::vector<EventId> keep = rows_in(trace, windows);
  return trace.rows(keep, std::move(wanted));
}

}  // namespace spotter::trace
