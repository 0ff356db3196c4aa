#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include "analyze/list.h"
#include "analyze/statistics.h"
#include "analyze/time/device_time.h"
#include "analyze/time/idle_gaps.h"
#include "analyze/time/intervals.h"

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

constexpr Ns kNever = std::numeric_limits<Ns>::max();

enum Why : u8 { host_wait, kernel_wait, other, unknown };

// When any work runs; rows without duration that come first or last are intervals of no length.
Union working_time(const trace::DeviceWork& work) {
  Ns first = work.start[0], last = work.end[0];
  std::vector<Union> by_stream;
  for (const trace::Stream& stream : work.streams) {
    Union& own = by_stream.emplace_back();
    for (u32 row = stream.begin; row < stream.end; ++row) {
      extend(own, work.start[row], work.end[row]);
      first = std::min(first, work.start[row]);
      last = std::max(last, work.end[row]);
    }
  }
  Union all = unite(std::move(by_stream));
  if (all.empty() || all.front().start != first) all.insert(all.begin(), {first, first});
  if (all.back().end != last) all.push_back({last, last});
  return all;
}

// When the first of the rows that begin at one time was launched.
struct FirstLaunch {
  Ns known = kNever;   // by those whose launch is in the trace
  Ns latest = kNever;  // by all: it may have been earlier, where launches are not in the trace
};

// Of the rows that start at one time, asked for ascending times.
class Starts {
 public:
  explicit Starts(const trace::DeviceWork& work) : work_(work) {
    for (const trace::Stream& stream : work_.streams) next_.push_back(stream.begin);
  }

  FirstLaunch launched_at(Ns time) {
    FirstLaunch first;
    for (size_t s = 0; s < next_.size(); ++s) {
      u32& row = next_[s];
      const u32 end = work_.streams[s].end;
      while (row < end && work_.start[row] < time) ++row;
      for (u32 at = row; at < end && work_.start[at] == time; ++at) {
        first.latest = std::min(first.latest, work_.launched[at]);
        if (work_.launch[at] != kNone) first.known = std::min(first.known, work_.launched[at]);
      }
    }
    return first;
  }

 private:
  const trace::DeviceWork& work_;
  std::vector<u32> next_;  // of each stream
};

Result<Table> map(const Trace& trace, const ParamValues& params) {
  Table table(kDeviceIdleBreakdown.name, std::span(kColumns).subspan(1));
  const trace::DeviceWork& work = trace.device_work();
  if (work.event.empty()) {
    note_no_device_work(table);
    return table;
  }
  const Ns delay = params[kConsecutiveKernelDelay.name];
  std::array<Ns, 4> ns{};
  std::array<i64, 4> count{};
  const Union working = working_time(work);
  Starts starts(work);
  for (size_t i = 1; i < working.size(); ++i) {
    const Ns end = working[i - 1].end, gap = working[i].start - end;
    const FirstLaunch first = starts.launched_at(working[i].start);
    const bool is_in_time = first.latest <= end;
    const Why why = !is_in_time && first.known != kNever ? host_wait
                    : gap < delay                        ? kernel_wait
                    : is_in_time                         ? other
                                                         : unknown;
    ns[why] += gap;
    ++count[why];
  }
  const i64 unlaunched = std::ranges::count(work.launch, kNone);
  const Ns idle = std::accumulate(ns.begin(), ns.end(), Ns{0});
  std::vector<Value> cells = {static_cast<i64>(work.event.size()), unlaunched, idle};
  for (size_t why = 0; why < ns.size(); ++why)
    cells.insert(cells.end(), {ns[why], count[why], ratio(ns[why], idle)});
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
    .map = map,
};

}  // namespace spotter::analyze
