#include "trace/steps.h"

#include "analyze/list.h"
#include "analyze/steps/step_windows.h"
#include "analyze/time/device_time.h"
#include "analyze/time/intervals.h"
#include "trace/steps_at.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    kStepNumberField,
    {"mark", Type::text, Unit::none, Role::detail, "Name of the events that mark the steps."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Start of the step, Unix time."},
    {"dur_ns", Type::integer, Unit::ns, Role::value, "Duration of the step on the host."},
    {"device_busy_ns", Type::integer, Unit::ns, Role::value,
     "Time in which device work of the step runs, also after the step's end; null in a trace without device "
     "work."},
};

std::vector<Ns> busy_by_step(const Trace& trace, const std::vector<trace::Step>& steps) {
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

Result<Table> map(const Trace& trace, const ParamValues&) {
  Table table(kSteps.name, std::span(kColumns).subspan(1));
  const trace::Steps& marked = trace.steps();
  if (marked.steps.empty()) {
    table.notes.add("no_steps", Severity::info, "traces without steps have no rows here");
    return table;
  }
  trace::add_step_notes(marked, table.notes);
  const bool has_device_work = !trace.device_work().event.empty();
  const std::vector<Ns> busy = busy_by_step(trace, marked.steps);
  for (size_t s = 0; s < marked.steps.size(); ++s) {
    const trace::Step& step = marked.steps[s];
    table.append({step.number, marked.mark_name, trace.info().base_ns + step.start, step.end - step.start,
                  has_device_work ? Value(busy[s]) : Value()});
  }
  return table;
}

}  // namespace

const Analysis kSteps = {
    .name = "steps",
    .summary = "The training steps of each rank: when, how long, and how busy the device was.",
    .doc =
        "One row per step. Steps come from spans named ProfilerStep#N; without them from the ends of "
        "optimizer steps; without those from the annotation that repeats evenly and covers the most time. device_busy is the "
        "length of the union of all device work whose launch starts inside the step (of work without a "
        "known launch, whose own start lies in it), on all devices and streams, not cut at the step's end: "
        "kernels run behind the host. Marks of one number that do not overlap in time are steps of their own; "
        "a mark that had not ended when recording did is none. A rank without steps has no rows.",
    .params = {},
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs | trace::kStepArgs,
    .map = map,
};

}  // namespace spotter::analyze
