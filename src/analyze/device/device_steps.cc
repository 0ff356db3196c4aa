#include "analyze/device/device_use.h"
#include "analyze/list.h"
#include "analyze/time/device_busy.h"
#include "analyze/time/device_time.h"
#include "trace/steps.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    kStepNumberField,
    {"device", Type::integer, Unit::none, Role::key, "Device number."},
    kWindowStartField,
    {"dur_ns", Type::integer, Unit::ns, Role::value, "Length of the window."},
    kDeviceUseFields[0],
    kDeviceUseFields[1],
    kDeviceUseFields[2],
    kDeviceUseFields[3],
    kDeviceUseFields[4],
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kDeviceSteps.name, std::span(kColumns).subspan(1));
  if (trace.device_work().event.empty()) {
    note_no_device_work(table);
    return table;
  }
  const std::vector<StepWindow> steps = step_windows(trace).steps;
  const std::vector<i64> devices = devices_of(trace.device_work());
  const std::vector<trace::TensorCores> tensor_cores = trace::tensor_cores_by_row(trace);
  std::vector<std::vector<DeviceUse>> uses;
  for (const i64 device : devices) uses.push_back(device_use(trace, tensor_cores, device, steps));
  for (size_t s = 0; s < steps.size(); ++s) {
    const Ns dur = steps[s].end - steps[s].start;
    for (size_t d = 0; d < devices.size(); ++d) {
      const auto use = values_of(uses[d][s], dur);
      table.append({steps[s].number, devices[d], trace.info().base_ns + steps[s].start, dur, use[0], use[1],
                    use[2], use[3], use[4]});
    }
  }
  return table;
}

}  // namespace

const Analysis kDeviceSteps = {
    .name = "device_steps",
    .summary = "How well each device is used in each step.",
    .doc =
        "The ratios of device_summary, each of one step: those that step_breakdown has, with its windows, by step and device. A rank "
        "without steps and operators, or without device work, has no rows.",
    .params = {},
    .columns = kColumns,
    .reads = kDeviceUseArgs | trace::kStepArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
