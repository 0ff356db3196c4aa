#include "analyze/device/device_use.h"
#include "analyze/list.h"
#include "analyze/operators/threads.h"
#include "analyze/time/device_busy.h"
#include "analyze/time/device_time.h"
#include "trace/devices.h"
#include "trace/steps.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"device", Type::integer, Unit::none, Role::key, "Device number."},
    kDeviceUseFields[0],
    kDeviceUseFields[1],
    kDeviceUseFields[2],
    kDeviceUseFields[3],
    kDeviceUseFields[4],
    {"name", Type::text, Unit::none, Role::value,
     "What the device is called; null where the trace does not say."},
    {"memory_bytes", Type::integer, Unit::bytes, Role::value,
     "Its memory; null where the trace does not say."},
    {"multiprocessors", Type::integer, Unit::count, Role::detail,
     "Number of its multiprocessors or compute units; null where the trace does not say."},
    {"compute_capability", Type::text, Unit::none, Role::detail,
     "CUDA's compute capability, or the number of AMD's architecture, \"9.0\"; null where the trace does not say."},
    {"host", Type::text, Unit::none, Role::detail, "The machine; null where the trace does not say."},
    {"process", Type::integer, Unit::none, Role::detail,
     "The process that used it; null without host spans."},
    {"window_ns", Type::integer, Unit::ns, Role::detail, "The time that the ratios are of."},
};

// From the first step to the end of the last one; without any that of the device's work.
StepWindow window_of(const Trace& trace) {
  const StepWindows windows = step_windows(trace);
  if (!windows.steps.empty()) return {0, windows.steps.front().start, windows.steps.back().end};
  const DeviceTime time = device_time(trace.device_work());
  return {0, time.first_start, time.last_end};
}

std::string capability_of(const Device& device) {
  if (!device.compute_major || !device.compute_minor) return {};
  return fmt::format("{}.{}", *device.compute_major, *device.compute_minor);
}

Value above_zero(i64 number) { return number > 0 ? Value(number) : Value(); }

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kDeviceSummary.name, std::span(kColumns).subspan(1));
  if (trace.device_work().event.empty()) {
    note_no_device_work(table);
    return table;
  }
  const StepWindow window = window_of(trace);
  const Ns length = window.end - window.start;
  const std::vector<trace::TensorCores> tensor_cores = trace::tensor_cores_by_row(trace);
  const u32 main = main_track(trace);
  for (const i64 id : devices_of(trace.device_work())) {
    static const Device kUnknown;
    const Device* found = trace::device_of(trace.info().devices, id);
    const Device& device = found ? *found : kUnknown;
    const auto use = values_of(device_use(trace, tensor_cores, id, std::span(&window, 1))[0], length);
    const std::string capability = capability_of(device);
    table.append({id, use[0], use[1], use[2], use[3], use[4], or_null(std::string_view(device.name)),
                  above_zero(device.memory_bytes), above_zero(device.sm_count),
                  or_null(std::string_view(capability)), or_null(std::string_view(trace.info().host_name)),
                  main == kNone ? Value() : Value(trace.tracks()[main].pid), length});
  }
  return table;
}

}  // namespace

const Analysis kDeviceSummary = {
    .name = "device_summary",
    .summary =
        "How well each device is used: busy time, multiprocessors, occupancy, tensor cores; and what it is.",
    .doc =
        "One row per device with work. All ratios are of the time from the start of the first step to the end of the last one, "
        "as step_breakdown has them (without steps: of the device work), and of kernels alone, communication included, copies and sets not. "
        "utilization_ratio: the part of that time in which at least one kernel runs. sm_efficiency_ratio: the mean over that time of min(sum of the blocks "
        "per SM of the kernels that run, 1), an estimate from grids alone. occupancy_ratio: the mean of what the profiler estimates as achieved occupancy, of "
        "each kernel that says it, weighted by its time. tensor_core_ratio: the part of the kernels' summed time that is of kernels that compute on "
        "tensor cores (matrix units), told by their names; tensor_core_unknown_ratio is that of names which do not tell, so that the true part lies between "
        "the first and the sum of both. After the TensorBoard profiler plugin's GPU summary (torch-tb-profiler 0.4.3), "
        "which knows names of 2020, counts unknown ones as none, and leaves kernels out that no operator launched. device_steps has the same of each step.",
    .params = {},
    .columns = kColumns,
    .reads = kDeviceUseArgs | trace::kStepArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
