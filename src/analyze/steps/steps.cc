#include "trace/steps.h"

#include "analyze/list.h"
#include "analyze/steps/busy_by_step.h"
#include "analyze/steps/step_windows.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    kStepNumberField,
    {"mark", Type::text, Unit::none, Role::detail, "Name of the events that mark the steps."},
    {"start_ns", Type::integer, Unit::ns, Role::time,
     "Start of the step, Unix time; of the first one that an optimizer ends when the recording began, which may be before its "
     "first span."},
    {"dur_ns", Type::integer, Unit::ns, Role::value, "Duration of the step on the host."},
    {"device_busy_ns", Type::integer, Unit::ns, Role::value,
     "Time in which device work of the step runs, also after the step's end; null in a trace without device "
     "work."},
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kSteps.name, std::span(kColumns).subspan(1));
  const trace::Steps& marked = trace.steps();
  if (marked.steps.empty()) {
    table.notes.add("no_steps", Severity::info, "traces without steps have no rows here");
    return table;
  }
  trace::add_step_notes(marked, table.notes);
  const bool has_device_work = !trace.device_work().event.empty();
  const std::vector<Ns> busy = busy_by_step(trace);
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
    .summary =
        "The steps of each rank, of training or inference: when, how long, and how busy the device was.",
    .doc =
        "One row per step. Steps come from spans named ProfilerStep#N; without them from the ends of "
        "optimizer steps; without those from the annotations of an inference engine (vLLM, SGLang, ATOM, TensorRT-LLM); without "
        "those from the annotation that repeats evenly and covers the most time; without any from launches of graphs or the "
        "sequence of kernels, as iterations tells, which also says what each iteration of inference works on. device_busy is the "
        "length of the union of all device work whose launch starts inside the step (of work without a "
        "known launch, whose own start lies in it), on all devices and streams, not cut at the step's end: "
        "kernels run behind the host. Marks of one number that do not overlap in time are steps of their own; "
        "a mark that had not ended when recording did is none. A rank without steps has no rows.",
    .params = {},
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs | trace::kStepArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
