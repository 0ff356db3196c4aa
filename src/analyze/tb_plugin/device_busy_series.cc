#include <cmath>

#include "analyze/tb_plugin/gpu_use.h"
#include "analyze/tb_plugin/list.h"

namespace spotter::analyze::tb_plugin {
namespace {

const Field kColumns[] = {
    kRankField,
    {"device", Type::integer, Unit::none, Role::key, "Device number."},
    {"time_ns", Type::integer, Unit::ns, Role::time, "Start of the bucket, Unix time; at last its end."},
    {"busy_ratio", Type::real, Unit::ratio, Role::value,
     "Part of the bucket in which a kernel runs; at last 0."},
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kDeviceBusySeries.name, std::span(kColumns).subspan(1));
  const Events events = events_of(trace);
  const UsInterval range = whole_range(trace, events);
  const std::vector<UsInterval> buckets = buckets_of(range);
  for (const auto& [device, kernels] : gpus_of(trace, events)) {
    const UsIntervals busy = busy_times(kernels);
    size_t first = 0;  // of those that do not end before the bucket
    for (const UsInterval& bucket : buckets) {
      while (first < busy.size() && busy[first].end <= bucket.start) ++first;
      Us time = 0;
      for (size_t i = first; i < busy.size() && busy[i].start < bucket.end; ++i)
        time += overlap(busy[i], bucket);
      table.append({device, unix_ns(trace.info().base_ns, bucket.start), time / bucket.length()});
    }
    table.append({device, unix_ns(trace.info().base_ns, range.end), 0.0});
  }
  return table;
}

}  // namespace

const Analysis kDeviceBusySeries = {
    .name = "device_busy_series",
    .summary = "How much of the time kernels run on each device, as the TensorBoard plugin draws it.",
    .doc =
        "The counters GPU Utilization that torch-tb-profiler 0.4.3 puts into the trace that it shows: the time of the profiler's own span, else from the first to the last event, is cut into buckets of the smallest power of ten of microseconds of which there are "
        "no more than 100; the last one has the remainder, too. One row per device and bucket says which part of it kernels cover. The last row of a device stands for the end of the last bucket and is 0. The 1 and the 0 that the plugin draws first, for the axis, are not here.",
    .params = {},
    .columns = kColumns,
    .reads = kEventArgs | kGpuArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze::tb_plugin
