#include <algorithm>

#include "analyze/kernels/dense_ids.h"
#include "analyze/launches/launches.h"
#include "analyze/list.h"
#include "analyze/time/device_time.h"
#include "base/saturated.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"api", Type::text, Unit::none, Role::key, "Host call that launches."},
    {"launches", Type::integer, Unit::count, Role::value, "Number of calls that started device work."},
    {"rows", Type::integer, Unit::count, Role::detail,
     "Kernels, copies and sets that they started; a graph starts many."},
    {"host_ns", Type::integer, Unit::ns, Role::value, "Sum of the durations of the calls."},
    {"device_ns", Type::integer, Unit::ns, Role::value, "Sum of the durations of what they started."},
    {"launch_delay_ns", Type::integer, Unit::ns, Role::detail,
     "Sum over the started rows: from the end of the call to the start on the device, at least 0. Rows wait at once, so "
     "it may exceed the time that was recorded and is no part of it."},
    {"mean_launch_delay_ns", Type::real, Unit::ns, Role::value, "Mean of that over the rows."},
    {"max_launch_delay_ns", Type::integer, Unit::ns, Role::value, "Longest of them."},
    {"short_rows", Type::integer, Unit::count, Role::value,
     "Rows that run shorter than the call that started them, which itself is no outlier."},
    {"runtime_outliers", Type::integer, Unit::count, Role::value,
     "Rows whose call took longer than runtime_cutoff_ns."},
    {"launch_delay_outliers", Type::integer, Unit::count, Role::detail,
     "Rows whose launch delay is longer than launch_delay_cutoff_ns."},
};

constexpr Param kParams[] = {kRuntimeCutoff, kLaunchDelayCutoff};

struct Api {
  StringId name = 0;
  i64 launches = 0, rows = 0;
  Ns host = 0, device = 0, delay = 0, max_delay = 0;
  i64 short_rows = 0, runtime_outliers = 0, delay_outliers = 0;
};

std::vector<Api> stats_by_api(const Trace& trace, const LaunchCutoffs& cutoffs) {
  std::vector<Api> apis;
  DenseIds ids(trace.strings().size());
  std::vector<bool> seen(trace.size());  // launches
  const trace::DeviceWork& work = trace.device_work();
  for (size_t row = 0; row < work.event.size(); ++row) {
    const EventId call = work.launch[row];
    if (call == kNone) continue;
    const Launch launch = launch_of(trace, row, cutoffs);
    const u32 id = ids.id(trace.name[call]);
    if (id == apis.size()) apis.push_back({.name = trace.name[call]});
    Api& api = apis[id];
    if (!seen[call]) {
      seen[call] = true;
      ++api.launches;
      api.host += launch.host;
    }
    ++api.rows;
    api.device += launch.device;
    api.delay = add_saturated(api.delay, launch.delay);
    api.max_delay = std::max(api.max_delay, launch.delay);
    api.short_rows += launch.is_short;
    api.runtime_outliers += launch.is_runtime_outlier;
    api.delay_outliers += launch.is_delay_outlier;
  }
  return apis;
}

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kKernelLaunchStats.name, std::span(kColumns).subspan(1));
  if (trace.device_work().event.empty()) note_no_device_work(table);
  note_links(trace, table);
  std::vector<Api> apis = stats_by_api(trace, cutoffs_of(params));
  std::sort(apis.begin(), apis.end(), [&](const Api& a, const Api& b) {
    if (a.rows != b.rows) return a.rows > b.rows;
    return trace.strings()[a.name] < trace.strings()[b.name];
  });
  for (const Api& a : apis)
    table.append({trace.strings()[a.name], a.launches, a.rows, a.host, a.device, a.delay,
                  static_cast<double>(a.delay) / static_cast<double>(a.rows), a.max_delay, a.short_rows,
                  a.runtime_outliers, a.delay_outliers});
  return table;
}

}  // namespace

const Analysis kKernelLaunchStats = {
    .name = "kernel_launch_stats",
    .summary = "What launching costs the host and how long launched work waits, per rank and host call.",
    .doc =
        "One row per host call (cudaLaunchKernel, cudaGraphLaunch, hipLaunchKernel, ...) that launched device work: a row "
        "of device work belongs to the earliest host call with its correlation number. The launch delay of a row of "
        "device work is its start minus the end of its call, at least 0. All rows in a queue wait at once: their delays overlap, and the sum of them is no part of "
        "a step or of the recording; the mean and the longest say how long the queue is. A row is short if it "
        "runs shorter than its call and the call does not take longer than runtime_cutoff_ns: with many of them the host cannot keep "
        "the device busy. Longer calls make their rows runtime outliers; delays over launch_delay_cutoff_ns are "
        "launch-delay outliers, which mean a full queue ahead and not a slow launch. Device work without a known "
        "launch is in no row. Sorted by rows. Unlike HTA's get_cuda_kernel_launch_stats every launching call counts, "
        "also of drivers, of HIP and of graphs (B5, B6), and the host time of a graph's launch counts once.",
    .params = kParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
