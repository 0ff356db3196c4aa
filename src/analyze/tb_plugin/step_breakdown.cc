#include "analyze/tb_plugin/list.h"
#include "analyze/tb_plugin/steps.h"

namespace spotter::analyze::tb_plugin {
namespace {

const Field kColumns[] = {
    kRankField,
    {"number", Type::integer, Unit::none, Role::key,
     "Number of the step, as its mark says, else 0; one that the device's timeline repeats comes twice."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Start of the step's window, Unix time."},
    {"dur_ns", Type::integer, Unit::ns, Role::value, "Length of the window."},
    {"kernel_ns", Type::integer, Unit::ns, Role::value,
     "Kernels run, other than those with the id of a collective; null in a trace without kernels."},
    {"copy_ns", Type::integer, Unit::ns, Role::value,
     "None of these: the device copies; null in a trace without copies."},
    {"set_ns", Type::integer, Unit::ns, Role::value,
     "None of these: the device sets memory; null in a trace without that."},
    {"communication_ns", Type::integer, Unit::ns, Role::value,
     "None of these: the host is inside a collective, or a kernel with its id runs; null where there is none."},
    {"runtime_ns", Type::integer, Unit::ns, Role::value,
     "None of these: the host is in a call of the runtime; null in a trace without such calls."},
    {"data_loader_ns", Type::integer, Unit::ns, Role::value, "None of these: the host waits for a batch."},
    {"host_ns", Type::integer, Unit::ns, Role::value,
     "None of these: the host is inside an operator or an annotation, or the device inside a copy of one."},
    {"other_ns", Type::integer, Unit::ns, Role::value, "Nothing of these."},
};

// What is left of the steps behind each part; where a part left nothing the next one has all of it again
// (Q3).
std::array<UsIntervals, kParts + 1> divide(const std::vector<StepTime>& steps,
                                           const std::array<UsIntervals, kParts>& parts) {
  UsIntervals all;
  for (const StepTime& step : steps) all.push_back(step.time);
  all = merged(std::move(all));
  std::array<UsIntervals, kParts + 1> divided;
  UsIntervals left;
  for (size_t part = 0; part < kParts; ++part) {
    divided[part] = left.empty() ? parts[part] : intersection(left, parts[part]);
    left = difference(left.empty() ? all : left, divided[part]);
  }
  divided[kParts] = std::move(left);
  return divided;
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kStepBreakdown.name, std::span(kColumns).subspan(1));
  const Events events = events_of(trace);
  const std::vector<StepTime> steps = steps_of(trace, events, launches_of(trace, events));
  const auto parts = times_by_part(trace, events, communication_of(trace, events));
  const auto divided = divide(steps, parts);
  for (const StepTime& step : steps) {
    std::array<Value, kParts + 1> times;
    for (size_t part = 0; part <= kParts; ++part) times[part] = ns_of(length_in(step.time, divided[part]));
    for (const Part part : {kKernel, kCopy, kSet, kCommunication, kRuntime})
      if (parts[part].empty()) times[part] = Value();
    table.append({step.number, unix_ns(trace.info().base_ns, step.time.start), ns_of(step.time.length()),
                  times[kKernel], times[kCopy], times[kSet], times[kCommunication], times[kRuntime],
                  times[kDataLoader], times[kHost], times[kParts]});
  }
  return table;
}

}  // namespace

const Analysis kStepBreakdown = {
    .name = "step_breakdown",
    .summary = "What each step's time went to, as the TensorBoard plugin's overview has it.",
    .doc =
        "The overview of torch-tb-profiler 0.4.3, with its mistakes (docs/tb_plugin.md has the Q-numbers). Parts and windows are those of the exact step_breakdown, but: copies of a "
        "step's mark on the device's timeline are steps, too (Q2), and copies of annotations host work (Q4); calls of the driver are nothing (Q1); communication is a span with one of the names "
        "nccl: or gloo: and broadcast, reduce, all_reduce, all_gather or reduce_scatter, and kernels with the External id of such a span, so that NCCL's kernels since PyTorch 1.12 count as others (Q9); "
        "where the parts before have taken all of all steps, the next one is counted in all of them anew, so that the sum may be more than the step (Q3). Times are "
        "doubles of microseconds. It shows microseconds, and as a percentage the mean over the steps.",
    .params = {},
    .columns = kColumns,
    .reads = kEventArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze::tb_plugin
