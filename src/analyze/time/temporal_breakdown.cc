#include "analyze/list.h"
#include "analyze/statistics.h"
#include "analyze/time/device_time.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"kernel_time_ns", Type::integer, Unit::ns, Role::value,
     "End of the last piece of device work minus start of the first one."},
    {"idle_ns", Type::integer, Unit::ns, Role::detail, "Part of it in which no device work runs."},
    {"compute_ns", Type::integer, Unit::ns, Role::detail,
     "Part of it in which compute kernels run, whatever else does."},
    {"non_compute_ns", Type::integer, Unit::ns, Role::detail,
     "The rest: communication or memory work runs, and no compute."},
    {"idle_ratio", Type::real, Unit::ratio, Role::value, "idle_ns / kernel_time_ns."},
    {"compute_ratio", Type::real, Unit::ratio, Role::value, "compute_ns / kernel_time_ns."},
    {"non_compute_ratio", Type::real, Unit::ratio, Role::value, "non_compute_ns / kernel_time_ns."},
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kTemporalBreakdown.name, std::span(kColumns).subspan(1));
  if (trace.device_work().event.empty()) {
    note_no_device_work(table);
    return table;
  }
  const DeviceTime time = device_time(trace.device_work());
  const Ns window = time.window();
  const Ns idle = window - time.busy();
  const Ns compute = time.of(trace::WorkKind::compute);
  const Ns non_compute = time.busy() - compute;
  table.append({window, idle, compute, non_compute, ratio(idle, window), ratio(compute, window),
                ratio(non_compute, window)});
  return table;
}

}  // namespace

const Analysis kTemporalBreakdown = {
    .name = "temporal_breakdown",
    .summary = "Device time per rank: idle, computing, or only moving data.",
    .doc =
        "Over all devices and streams of a rank. kernel_time runs from the start of the first kernel, copy "
        "or set to the end of the last one. idle is the part of it in which none of them runs; compute the "
        "part in which at least one compute kernel runs, also while data moves; non_compute the rest, in "
        "which only communication or memory work runs. The three add up to kernel_time. Ratios are null "
        "where kernel_time is 0. Definition after Holistic Trace Analysis, with category instead of stream "
        "numbers to tell device work, and exact nanoseconds. A rank without device work has no row.",
    .params = {},
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
