#include "analyze/list.h"
#include "analyze/time/device_busy.h"
#include "analyze/time/device_time.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"device", Type::integer, Unit::none, Role::key, "Device number."},
    {"time_ns", Type::integer, Unit::ns, Role::time, "Start of the bucket, Unix time; at last its end."},
    {"busy_ratio", Type::real, Unit::ratio, Role::value,
     "Part of the bucket in which the device has any work; at last 0."},
};

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kDeviceBusySeries.name, std::span(kColumns).subspan(1));
  const trace::DeviceWork& work = trace.device_work();
  if (work.event.empty()) note_no_device_work(table);
  TRY_ASSIGN(const Buckets buckets, buckets_of(work, params["bucket_ns"]));
  for (const i64 device : devices_of(work))
    append_series(buckets, device, trace.info().base_ns, means(buckets, busy_pieces(work, device)), 1, table);
  return table;
}

}  // namespace

const Analysis kDeviceBusySeries = {
    .name = "device_busy_series",
    .summary = "How much of the time each device has work, over time.",
    .doc =
        "The time from the first to the last device work of the trace is cut into buckets; one row per device and bucket says "
        "which part of it kernels, copies and sets cover, on any stream (several at once count once). The last row of a "
        "device stands for the end of the last bucket and is 0.",
    .params = kBucketParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
