#include <array>
#include <utility>
#include <vector>

#include "analyze/list.h"
#include "analyze/steps/step_parts.h"
#include "analyze/steps/step_windows.h"
#include "analyze/time/intervals.h"
#include "trace/nesting.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    kStepNumberField,
    kWindowStartField,
    {"dur_ns", Type::integer, Unit::ns, Role::value,
     "Length of the window; the times behind it add up to it: each moment counts for the first of them."},
    kStepPartFields[0],
    kStepPartFields[1],
    kStepPartFields[2],
    kStepPartFields[3],
    kStepPartFields[4],
    kStepPartFields[5],
    kStepPartFields[6],
    kStepPartFields[7],
};

// Of all parts but other, which is what these leave.
using Lines = LineUnions<kStepParts>;

void gather_host(const Trace& trace, Lines& lines) {
  HostParts parts(trace);
  const trace::Nesting& nesting = trace.nesting();
  for (const auto& thread : nesting.threads) {
    lines.next_line();
    for (u32 i = thread.begin; i < thread.end; ++i) {
      const EventId e = nesting.order[i];
      const StepPart part = parts.of(e);
      if (part != StepPart::other) lines.add(static_cast<size_t>(part), trace.ts[e], trace.end(e));
    }
  }
}

std::array<Union, kStepParts> gather(const Trace& trace) {
  Lines lines;
  const trace::DeviceWork& work = trace.device_work();
  for (const trace::Stream& stream : work.streams) {
    lines.next_line();
    for (u32 row = stream.begin; row < stream.end; ++row) {
      const StepPart part = part_of_device_work(trace.category(work.event[row]), work.kind[row]);
      lines.add(static_cast<size_t>(part), work.start[row], work.end[row]);
    }
  }
  gather_host(trace, lines);
  return std::move(lines).united();
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kStepBreakdown.name, std::span(kColumns).subspan(1));
  const StepWindows windows = step_windows(trace);
  note_step_windows(trace, windows, table.notes);
  Union left;
  for (const StepWindow& step : windows.steps) extend(left, step.start, step.end);
  std::array<Union, kStepParts> parts = gather(trace);
  for (Union& part : parts) {
    Union first = intersection(left, part);
    left = difference(left, part);
    part = std::move(first);
  }
  parts.back() = std::move(left);
  std::vector<PartTimes> times(windows.steps.size());
  for (size_t p = 0; p < kStepParts; ++p) {
    const std::vector<Ns> by_step = time_by_step(windows.steps, parts[p]);
    for (size_t s = 0; s < times.size(); ++s) times[s][p] = by_step[s];
  }
  const bool has_device_work = !trace.device_work().event.empty();
  for (size_t s = 0; s < times.size(); ++s) {
    const StepWindow& step = windows.steps[s];
    std::vector<Value> row = {step.number, trace.info().base_ns + step.start, step.end - step.start};
    for (const Value& value : part_values(times[s], has_device_work)) row.push_back(value);
    table.append(row);
  }
  return table;
}

}  // namespace

const Analysis kStepBreakdown = {
    .name = "step_breakdown",
    .summary = "What each step's time went to, in parts that add up: device, runtime, data loading, host.",
    .doc =
        "Each moment of a step counts for the first of these that is so at that moment, on any stream or thread: a kernel "
        "other than of communication runs; the device copies; it sets memory; a kernel of communication runs, or the host is "
        "inside a span of torch.distributed's backends (nccl:..., gloo:...); the host is in a call of the device's runtime or "
        "driver; the host waits for a batch (enumerate(DataLoader)..., enumerate(DataPipe)...); the host is inside any other "
        "operator or annotation, but not the step's own mark; nothing of these. The parts add up to dur_ns exactly. A "
        "step's window is its mark, longer by what the device still works off of it: it begins when the window before it "
        "ends, if that is later than its mark, and ends when its mark and all device work launched wholly inside the mark "
        "have ended; the first one does not begin before device work that no step launched has ended, where that ended before "
        "its own began. Steps at the end whose device work the recording does not have, or less than four fifths of what "
        "the step before launched, are left out. Without marks of steps the time from the first operator's start to the last one's "
        "end is one step, number 0. After the TensorBoard profiler plugin's overview (torch-tb-profiler 0.4.3); unlike there "
        "calls of the driver are runtime, copies of annotations on the device's timeline are no host work, and steps that are "
        "covered whole are divided like all others. A rank without steps and operators has no rows.",
    .params = {},
    .columns = kColumns,
    .reads = kStepPartArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
