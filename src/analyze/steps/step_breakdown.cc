#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "analyze/list.h"
#include "analyze/steps/step_windows.h"
#include "analyze/time/intervals.h"
#include "trace/collective_marks.h"
#include "trace/data_loading.h"
#include "trace/device_work.h"
#include "trace/nesting.h"
#include "trace/steps.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"number", Type::integer, Unit::none, Role::key,
     "Number of the step, as its mark says, else counted from 0."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Start of the step's window, Unix time."},
    {"dur_ns", Type::integer, Unit::ns, Role::value,
     "Length of the window; the times behind it add up to it."},
    {"kernel_ns", Type::integer, Unit::ns, Role::value,
     "Kernels run, other than those of communication; null in a trace without device work."},
    {"copy_ns", Type::integer, Unit::ns, Role::value, "None of these: the device copies; null as kernel_ns."},
    {"set_ns", Type::integer, Unit::ns, Role::value,
     "None of these: the device sets memory; null as kernel_ns."},
    {"communication_ns", Type::integer, Unit::ns, Role::value,
     "None of these: kernels of communication run, or the host is inside an operation of it."},
    {"runtime_ns", Type::integer, Unit::ns, Role::value,
     "None of these: the host is in a call of the device's runtime or driver."},
    {"data_loader_ns", Type::integer, Unit::ns, Role::value, "None of these: the host waits for a batch."},
    {"host_ns", Type::integer, Unit::ns, Role::value,
     "None of these: the host is inside an operator or an annotation."},
    {"other_ns", Type::integer, Unit::ns, Role::value, "Nothing of these."},
};

// In the order in which they count.
enum Part : u8 { kKernel, kCopy, kSet, kCommunication, kRuntime, kDataLoader, kHost, kParts };
using Lines = LineUnions<kParts>;

Part part_of(const Trace& trace, const trace::DeviceWork& work, size_t row) {
  if (trace.category(work.event[row]) == Category::gpu_memset) return kSet;
  switch (work.kind[row]) {
    case trace::WorkKind::communication:
      return kCommunication;
    case trace::WorkKind::memory:
      return kCopy;
    case trace::WorkKind::compute:
      break;
  }
  return kKernel;
}

// Of an operator or an annotation; kParts: of none.
Part part_of(const trace::Steps& steps, std::string_view name) {
  if (is_step_mark(steps, name)) return kParts;
  if (trace::is_collective_mark(name)) return kCommunication;
  return trace::is_data_loading(name) ? kDataLoader : kHost;
}

void gather_host(const Trace& trace, Lines& lines) {
  std::vector<std::optional<Part>> by_name(trace.strings().size());
  const trace::Nesting& nesting = trace.nesting();
  for (const auto& thread : nesting.threads) {
    lines.next_line();
    for (u32 i = thread.begin; i < thread.end; ++i) {
      const EventId e = nesting.order[i];
      const Category category = trace.category(e);
      Part part = kParts;
      if (is_host_call(category)) {
        part = kRuntime;
      } else if (category == Category::cpu_op || category == Category::user_annotation) {
        std::optional<Part>& known = by_name[trace.name[e]];
        if (!known) known = part_of(trace.steps(), trace.name_of(e));
        part = *known;
      }
      if (part != kParts) lines.add(part, trace.ts[e], trace.end(e));
    }
  }
}

std::array<Union, kParts> gather(const Trace& trace) {
  Lines lines;
  const trace::DeviceWork& work = trace.device_work();
  for (const trace::Stream& stream : work.streams) {
    lines.next_line();
    for (u32 row = stream.begin; row < stream.end; ++row)
      lines.add(part_of(trace, work, row), work.start[row], work.end[row]);
  }
  gather_host(trace, lines);
  return std::move(lines).united();
}

Result<Table> map(const Trace& trace, const ParamValues&) {
  Table table(kStepBreakdown.name, std::span(kColumns).subspan(1));
  const StepWindows windows = step_windows(trace);
  note_step_windows(trace, windows, table.notes);
  Union left;
  for (const StepWindow& step : windows.steps) extend(left, step.start, step.end);
  std::array<std::vector<Ns>, kParts> times;
  const std::array<Union, kParts> all = gather(trace);
  for (size_t c = 0; c < kParts; ++c) {
    times[c] = time_by_step(windows.steps, intersection(left, all[c]));
    left = difference(left, all[c]);
  }
  const std::vector<Ns> other = time_by_step(windows.steps, left);
  const bool has_device_work = !trace.device_work().event.empty();
  for (size_t s = 0; s < windows.steps.size(); ++s) {
    const StepWindow& step = windows.steps[s];
    const auto of_device = [&](Part c) { return has_device_work ? Value(times[c][s]) : Value(); };
    table.append({step.number, trace.info().base_ns + step.start, step.end - step.start, of_device(kKernel),
                  of_device(kCopy), of_device(kSet), times[kCommunication][s], times[kRuntime][s],
                  times[kDataLoader][s], times[kHost][s], other[s]});
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
    .reads = trace::kDeviceWorkArgs | trace::kStepArgs,
    .map = map,
};

}  // namespace spotter::analyze
