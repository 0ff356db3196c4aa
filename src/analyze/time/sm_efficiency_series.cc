#include "analyze/list.h"
#include "analyze/time/device_busy.h"
#include "analyze/time/device_time.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"device", Type::integer, Unit::none, Role::key, "Device number."},
    {"time_ns", Type::integer, Unit::ns, Role::time, "Start of the bucket, Unix time; at last its end."},
    {"sm_efficiency_ratio", Type::real, Unit::ratio, Role::value,
     "Mean part of the multiprocessors that have a block to run; at last 0."},
};

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kSmEfficiencySeries.name, std::span(kColumns).subspan(1));
  const trace::DeviceWork& work = trace.device_work();
  if (work.event.empty()) note_no_device_work(table);
  TRY_ASSIGN(const Buckets buckets, buckets_of(work, params["bucket_ns"]));
  for (const i64 device : devices_of(work)) {
    const std::optional<std::vector<Piece>> pieces = multiprocessor_pieces(trace, device);
    if (!pieces) {
      table.notes.add(
          "no_blocks_per_sm", Severity::info,
          "of some devices no kernel says its blocks per SM, so that their efficiency is not known");
      continue;
    }
    append_series(buckets, device, trace.info().base_ns, means(buckets, *pieces), kAllMultiprocessors, table);
  }
  return table;
}

}  // namespace

const Analysis kSmEfficiencySeries = {
    .name = "sm_efficiency_series",
    .summary = "Which part of each device's multiprocessors has work, estimated, over time.",
    .doc =
        "The time from the first to the last device work of the trace is cut into buckets; one row per device and bucket is "
        "the mean, over the bucket, of min(sum of the blocks per SM of the kernels that run, 1), as the TensorBoard plugin estimates "
        "SM efficiency; idle time counts as 0. Kernels that do not say their blocks per SM (argument `blocks per SM`, "
        "of CUDA only) count as nothing; a device without any such kernel has no row. The last row of a device stands for the "
        "end of the last bucket and is 0.",
    .params = kBucketParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs | ArgSet{Arg::blocks_per_sm},
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
