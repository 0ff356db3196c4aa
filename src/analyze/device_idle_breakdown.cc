#include <algorithm>
#include <array>
#include <numeric>

#include "analyze/device_time.h"
#include "analyze/idle_gaps.h"
#include "analyze/list.h"
#include "analyze/statistics.h"

namespace spotter {
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
     "Longer gaps of which the launch of the later row is not in the trace."},
    {"unknown_count", Type::integer, Unit::count, Role::detail, "Number of such gaps."},
    {"unknown_ratio", Type::real, Unit::ratio, Role::value, "unknown_ns / idle_ns."},
};

constexpr Param kParams[] = {kConsecutiveKernelDelay};

enum Why : u8 { host_wait, kernel_wait, other, unknown };

// All rows by their start; of those that start at once, the one that was launched first counts.
std::vector<u32> by_start(const Trace& trace) {
  const DeviceWork& work = trace.device_work();
  const auto launched = [&](u32 row) {
    return work.launch[row] == kNone ? std::numeric_limits<Ns>::max() : trace.ts[work.launch[row]];
  };
  std::vector<u32> order(work.event.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](u32 a, u32 b) {
    if (work.start[a] != work.start[b]) return work.start[a] < work.start[b];
    const Ns x = launched(a), y = launched(b);
    return x != y ? x < y : a < b;
  });
  return order;
}

Result<Table> map(const Trace& trace, const ParamValues& params) {
  Table table(kDeviceIdleBreakdown.name, std::span(kColumns).subspan(1));
  const DeviceWork& work = trace.device_work();
  if (work.event.empty()) {
    note_no_device_work(table);
    return table;
  }
  const Ns delay = params[kConsecutiveKernelDelay.name];
  std::array<Ns, 4> ns{};
  std::array<i64, 4> count{};
  const std::vector<u32> order = by_start(trace);
  Ns end = work.end[order[0]];
  i64 unlaunched = 0;
  for (const u32 row : order) {
    const EventId launch = work.launch[row];
    unlaunched += launch == kNone;
    if (const Ns gap = work.start[row] - end; gap > 0) {
      const Why why = launch != kNone && trace.ts[launch] > end ? host_wait
                      : gap < delay                             ? kernel_wait
                      : launch != kNone                         ? other
                                                                : unknown;
      ns[why] += gap;
      ++count[why];
    }
    end = std::max(end, work.end[row]);
  }
  const Ns idle = std::accumulate(ns.begin(), ns.end(), Ns{0});
  std::vector<Value> cells = {static_cast<i64>(order.size()), unlaunched, idle};
  for (size_t why = 0; why < ns.size(); ++why)
    cells.insert(cells.end(), {ns[why], count[why], ratio(ns[why], idle)});
  table.append(cells);
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
        "another process, or a launch that took long. unknown: its launch is not in the trace. "
        "idle_time_breakdown tells the gaps of each stream by the same rule, which are no idle time of the device "
        "while another stream runs. Ratios are of idle_ns, null where that is 0.",
    .params = kParams,
    .columns = kColumns,
    .reads = kDeviceWorkArgs,
    .map = map,
};

}  // namespace spotter
