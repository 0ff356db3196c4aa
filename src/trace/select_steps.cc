#include <algorithm>

#include "trace/links.h"
#include "trace/steps_at.h"
#include "trace/windows.h"

namespace spotter::trace {
namespace {

// Of the first `count` steps.
std::optional<Ns> end_of(const Trace& trace, size_t count) {
  const std::vector<Step>& steps = trace.steps().steps;
  if (count == 0) return std::nullopt;
  Ns last = steps[0].end;
  for (size_t i = 0; i < count; ++i) last = std::max(last, steps[i].end);
  const StepsAt at(steps);
  const LaunchLinks& links = trace.links();
  for (size_t row = 0; row < links.device.size(); ++row) {
    const EventId launch = links.launch[row];
    if (launch == kNone) continue;
    at.for_each(trace.ts[launch], [&](size_t step) {
      if (step < count && trace.end(launch) <= steps[step].end)
        last = std::max(last, trace.end(links.device[row]));
    });
  }
  return last;
}

}  // namespace

std::unique_ptr<Trace> select_steps(const Trace& trace, i64 first, i64 last) {
  const std::vector<Step>& all = trace.steps().steps;
  const auto is_wanted = [&](const Step& s) { return first <= s.number && s.number <= last; };
  Steps wanted = trace.steps();
  std::erase_if(wanted.steps, [&](const Step& s) { return !is_wanted(s); });
  if (!wanted.steps.empty())
    wanted.end_before =
        end_of(trace, static_cast<size_t>(std::ranges::find_if(all, is_wanted) - all.begin()));
  Windows windows;
  for (const Step& step : wanted.steps) windows.add(step.start, step.end);
  const std::vector<EventId> keep = rows_in(trace, windows);
  return trace.rows(keep, std::move(wanted));
}

}  // namespace spotter::trace
