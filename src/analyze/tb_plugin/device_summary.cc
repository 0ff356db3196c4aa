#include "analyze/tb_plugin/gpu_use.h"
#include "analyze/tb_plugin/list.h"
#include "analyze/tb_plugin/steps.h"
#include "analyze/tb_plugin/tensor_cores.h"
#include "analyze/tb_plugin/tree.h"

namespace spotter::analyze::tb_plugin {
namespace {

const Field kColumns[] = {
    kRankField,
    {"device", Type::integer, Unit::none, Role::key, "Device number."},
    {"utilization_ratio", Type::real, Unit::ratio, Role::value, "Part of the time in which a kernel runs."},
    {"sm_efficiency_ratio", Type::real, Unit::ratio, Role::value,
     "Mean part of the multiprocessors that have a block to run, idle time included; null where no kernel "
     "in the time says its blocks per SM."},
    {"occupancy_ratio", Type::real, Unit::ratio, Role::value,
     "Mean estimated achieved occupancy of the kernels, by their time; null where none in the time says it."},
    {"tensor_core_ratio", Type::real, Unit::ratio, Role::value,
     "Part of the time of the kernels that operators launched that is of kernels on tensor cores; null where "
     "operators launched none."},
    {"name", Type::text, Unit::none, Role::value,
     "What the device is called; null where the trace does not say."},
    {"memory_bytes", Type::integer, Unit::bytes, Role::value,
     "Its memory; null where the trace does not say."},
    {"compute_capability", Type::text, Unit::none, Role::detail,
     "As the trace has it, \"9.0\"; null where it does not say."},
    {"window_ns", Type::integer, Unit::ns, Role::detail, "The time that the ratios are of."},
};

// Of kernels that operators launched, by device, in all of the trace.
struct Tensor {
  std::map<i64, Us> all, on_tensor_cores;
  bool has_any = false;
};

Tensor tensor_of(const Trace& trace, const Events& events, const Launches& launches) {
  TensorKernels kernels(trace);
  Tensor found;
  const Tree tree = tree_of(trace, events, launches);
  for (const u32 i : tree.in_post_order()) {
    if (!tree.nodes[i].is_operator) continue;
    for (const u32 launch : tree.nodes[i].launches) {
      for (const u32 work : launches.all[launch].work) {
        const Event& event = events.all[work];
        if (event.type != EventType::kernel) continue;
        found.has_any = true;
        const auto device = trace.integer(event.id, Arg::device);
        if (!device) continue;
        found.all[*device] += event.time.length();
        if (kernels.has(event.id)) found.on_tensor_cores[*device] += event.time.length();
      }
    }
  }
  return found;
}

// Nothing where no kernel that says the number runs in the window.
struct Use {
  std::optional<double> efficiency, occupancy;
};

Use use_of(const std::vector<GpuKernel>& kernels, const UsInterval& window) {
  Us pieces = 0, occupied = 0;
  double efficiency = 0, occupancy = 0;
  for (const GpuPiece& piece : multiprocessor_pieces(kernels)) {
    pieces += overlap(window, piece.time);
    efficiency += piece.part * overlap(window, piece.time);
  }
  for (const GpuKernel& kernel : kernels) {
    if (!kernel.occupancy || *kernel.occupancy < 0) continue;
    occupied += overlap(window, kernel.time);
    occupancy += *kernel.occupancy * overlap(window, kernel.time);
  }
  constexpr double kPercent = 100;
  Use use;
  if (pieces > 0) use.efficiency = efficiency / window.length();
  if (occupied > 0) use.occupancy = occupancy / occupied / kPercent;
  return use;
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kDeviceSummary.name, std::span(kColumns).subspan(1));
  const Events events = events_of(trace);
  const Launches launches = launches_of(trace, events);
  const std::vector<StepTime> steps = steps_of(trace, events, launches);
  if (steps.empty()) return table;
  const UsInterval window = {steps.front().time.start, steps.back().time.end};
  Tensor tensor = tensor_of(trace, events, launches);
  for (const auto& [id, kernels] : gpus_of(trace, events)) {
    const auto device = std::ranges::find(trace.info().devices, id, &Device::id);
    const Device known = device == trace.info().devices.end() ? Device() : *device;
    const std::string capability = known.compute_major && known.compute_minor
                                       ? fmt::format("{}.{}", *known.compute_major, *known.compute_minor)
                                       : "";
    const Us busy = length_in(window, busy_times(kernels));
    const Use use = use_of(kernels, window);
    const auto of_window = [&](double x) {
      return window.length() > 0 ? Value(x / window.length()) : Value();
    };
    const Value share = !tensor.has_any      ? Value()
                        : tensor.all[id] > 0 ? Value(tensor.on_tensor_cores[id] / tensor.all[id])
                                             : Value(0.0);
    table.append({id, of_window(busy), or_null(use.efficiency), or_null(use.occupancy), share,
                  or_null(std::string_view(known.name)),
                  known.memory_bytes > 0 ? Value(known.memory_bytes) : Value(),
                  or_null(std::string_view(capability)), ns_of(window.length())});
  }
  return table;
}

}  // namespace

const Analysis kDeviceSummary = {
    .name = "device_summary",
    .summary = "How well each device is used, as the TensorBoard plugin's overview has it.",
    .doc =
        "The GPU summary of torch-tb-profiler 0.4.3, with its mistakes (docs/tb_plugin.md has the Q-numbers). One row per device that a kernel says it ran on. The ratios are of the time from the start of the first step to the end "
        "of the last one, as the plugin has them (step_breakdown), and of kernels alone, communication included. utilization_ratio: the part of that time in which a kernel runs. sm_efficiency_ratio: the mean over that time "
        "of min(sum of the blocks per SM of the kernels that run, 1). occupancy_ratio: the mean of the kernels' estimated achieved occupancy, by their time in it. tensor_core_ratio: of the kernels of the whole trace whose launch "
        "has the External id of an operator, the part of the time that is of names with one of 18 parts, known in 2020 (Q14, Q21).",
    .params = {},
    .columns = kColumns,
    .reads = kEventArgs | kGpuArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze::tb_plugin
