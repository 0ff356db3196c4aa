#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "analyze/list.h"
#include "analyze/statistics.h"
#include "analyze/time/device_gaps.h"
#include "analyze/time/device_time.h"
#include "analyze/time/idle_gaps.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"rows", Type::integer, Unit::count, Role::detail,
     "Kernels, copies and sets of all devices and streams."},
    {"unlaunched_rows", Type::integer, Unit::count, Role::detail, "Those whose launch is not in the trace."},
    {"idle_ns", Type::integer, Unit::ns, Role::value,
     "Time in which none of them runs: the sum of the gaps."},
    {"host_wait_ns", Type::integer, Unit::ns, Role::detail,
     "Gaps whose later row was launched only after all work had ended."},
    {"host_wait_count", Type::integer, Unit::count, Role::detail, "Number of such gaps."},
    {"host_wait_ratio", Type::real, Unit::ratio, Role::value, "host_wait_ns / idle_ns."},
    {"kernel_wait_ns", Type::integer, Unit::ns, Role::detail,
     "Gaps shorter than consecutive_kernel_delay_ns that are not host_wait."},
    {"kernel_wait_count", Type::integer, Unit::count, Role::detail, "Number of such gaps."},
    {"kernel_wait_ratio", Type::real, Unit::ratio, Role::value, "kernel_wait_ns / idle_ns."},
    {"other_ns", Type::integer, Unit::ns, Role::detail, "Longer gaps whose later row was launched in time."},
    {"other_count", Type::integer, Unit::count, Role::detail, "Number of such gaps."},
    {"other_ratio", Type::real, Unit::ratio, Role::value, "other_ns / idle_ns."},
    {"unknown_ns", Type::integer, Unit::ns, Role::detail,
     "Longer gaps whose later row may have been launched late: its launch is not in the trace."},
    {"unknown_count", Type::integer, Unit::count, Role::detail, "Number of such gaps."},
    {"unknown_ratio", Type::real, Unit::ratio, Role::value, "unknown_ns / idle_ns."},
};

constexpr Param kParams[] = {kConsecutiveKernelDelay};

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kDeviceIdleBreakdown.name, std::span(kColumns).subspan(1));
  const trace::DeviceWork& work = trace.device_work();
  if (work.event.empty()) {
    note_no_device_work(table);
    return table;
  }
  std::array<Ns, kDeviceGapCategories> ns{};
  std::array<i64, kDeviceGapCategories> count{};
  for (const DeviceGap& gap : device_gaps(trace, params[kConsecutiveKernelDelay.name])) {
    ns[static_cast<size_t>(gap.category)] += gap.end - gap.start;
    ++count[static_cast<size_t>(gap.category)];
  }
  const i64 unlaunched = std::ranges::count(work.launch, kNone);
  const Ns idle = std::accumulate(ns.begin(), ns.end(), Ns{0});
  std::vector<Value> cells = {static_cast<i64>(work.event.size()), unlaunched, idle};
  for (size_t c = 0; c < ns.size(); ++c) cells.insert(cells.end(), {ns[c], count[c], ratio(ns[c], idle)});
  table.append(cells);
  note_inferred_launches(trace, table);
  return table;
}

}  // namespace

const Analysis kDeviceIdleBreakdown = {
    .name = "device_idle_breakdown",
    .summary =
        "Why a rank's devices were idle altogether: waiting for the host, between kernels, or something else.",
    .doc =
        "One row per rank with device work. A gap is a time between the first and the last device work in which "
        "none runs, on any stream or device of the rank; their sum is idle_ns of temporal_breakdown. A gap is told "
        "by the row that ends it, of several the one that was launched first. host_wait: the host call that launched "
        "it started after all earlier work had ended. kernel_wait: else, if the gap is shorter than "
        "consecutive_kernel_delay_ns. other: it had been launched, and yet nothing ran: an event, a host function, "
        "another process, or a launch that took long. unknown: its launch is not in the trace, and may have been late: as "
        "a stream runs in the order of the launches, it was not later than the launches of what comes after it there. "
        "idle_time_breakdown tells the gaps of each stream by the same rule, which are no idle time of the device "
        "while another stream runs. Ratios are of idle_ns, null where that is 0.",
    .params = kParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
