#include "analyze/launches/launches.h"
#include "analyze/list.h"
#include "analyze/time/device_time.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"device", Type::integer, Unit::none, Role::detail, "Device number."},
    {"stream", Type::integer, Unit::none, Role::detail, "Stream of that device."},
    {"kernel", Type::text, Unit::none, Role::key, "Kernel, copy or set."},
    {"api", Type::text, Unit::none, Role::detail, "Host call that launched it."},
    {"correlation", Type::integer, Unit::none, Role::detail, "Number that both have in the trace."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Start on the device, Unix time."},
    {"host_ns", Type::integer, Unit::ns, Role::value, "Duration of the host call."},
    {"device_ns", Type::integer, Unit::ns, Role::value, "Duration on the device."},
    {"launch_delay_ns", Type::integer, Unit::ns, Role::value,
     "From the end of the call to the start on the device, at least 0."},
    {"is_short", Type::flag, Unit::none, Role::detail, "It runs shorter than the call that started it."},
    {"is_runtime_outlier", Type::flag, Unit::none, Role::detail,
     "The call took longer than runtime_cutoff_ns."},
    {"is_launch_delay_outlier", Type::flag, Unit::none, Role::detail,
     "The launch delay is longer than launch_delay_cutoff_ns."},
};

constexpr Param kParams[] = {kRuntimeCutoff, kLaunchDelayCutoff};

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kKernelLaunches.name, std::span(kColumns).subspan(1));
  const trace::DeviceWork& work = trace.device_work();
  if (work.event.empty()) note_no_device_work(table);
  note_links(trace, table);
  const LaunchCutoffs cutoffs = cutoffs_of(params);
  for (const trace::Stream& stream : work.streams) {
    for (u32 row = stream.begin; row < stream.end; ++row) {
      const EventId call = work.launch[row];
      if (call == kNone) continue;
      const Launch launch = launch_of(trace, row, cutoffs);
      table.append({stream.device, stream.stream, trace.name_of(work.event[row]), trace.name_of(call),
                    trace.integer(call, Arg::correlation).value_or(0), trace.info().base_ns + work.start[row],
                    launch.host, launch.device, launch.delay, launch.is_short, launch.is_runtime_outlier,
                    launch.is_delay_outlier});
    }
  }
  return table;
}

}  // namespace

const Analysis kKernelLaunches = {
    .name = "kernel_launches",
    .summary = "Each launch: how long the host call took, how long the work waited, how long it ran.",
    .doc =
        "One row per piece of device work with a known launch, by device, stream and start. The numbers that "
        "kernel_launch_stats adds up, with the same definitions and parameters.",
    .params = kParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
