#include "analyze/steps/busy_by_step.h"

#include "analyze/time/intervals.h"
#include "trace/device_work.h"
#include "trace/steps_at.h"

namespace spotter::analyze {

std::vector<Ns> busy_by_step(const Trace& trace) {
  const std::vector<trace::Step>& steps = trace.steps().steps;
  const trace::DeviceWork& work = trace.device_work();
  const trace::StepsAt at(steps);
  std::vector<std::vector<Union>> by_stream(steps.size());
  std::vector<size_t> last_stream(steps.size(), work.streams.size());
  for (size_t s = 0; s < work.streams.size(); ++s) {
    for (u32 row = work.streams[s].begin; row < work.streams[s].end; ++row) {
      const EventId launch = work.launch[row];
      const Ns time = launch == kNone ? work.start[row] : trace.ts[launch];
      at.for_each(time, [&](size_t step) {
        if (last_stream[step] != s) by_stream[step].emplace_back();
        last_stream[step] = s;
        extend(by_stream[step].back(), work.start[row], work.end[row]);
      });
    }
  }
  std::vector<Ns> busy;
  for (std::vector<Union>& unions : by_stream) busy.push_back(length(unite(std::move(unions))));
  return busy;
}

}  // namespace spotter::analyze
