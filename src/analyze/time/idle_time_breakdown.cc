#include <algorithm>
#include <array>

#include "analyze/list.h"
#include "analyze/statistics.h"
#include "analyze/time/device_time.h"
#include "analyze/time/idle_gaps.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"device", Type::integer, Unit::none, Role::key, "Device number."},
    {"stream", Type::integer, Unit::none, Role::key, "Stream of that device."},
    {"rows", Type::integer, Unit::count, Role::detail, "Kernels, copies and sets on the stream."},
    {"busy_ns", Type::integer, Unit::ns, Role::value, "Time in which at least one of them runs."},
    {"span_ns", Type::integer, Unit::ns, Role::detail, "End of the last one minus start of the first one."},
    {"idle_ns", Type::integer, Unit::ns, Role::value, "span_ns minus busy_ns: the sum of the gaps."},
    {"host_wait_ns", Type::integer, Unit::ns, Role::detail,
     "Gaps whose later row was launched only after the stream had run dry."},
    {"host_wait_count", Type::integer, Unit::count, Role::detail, "Number of such gaps."},
    {"host_wait_ratio", Type::real, Unit::ratio, Role::value, "host_wait_ns / idle_ns."},
    {"kernel_wait_ns", Type::integer, Unit::ns, Role::detail,
     "Gaps shorter than consecutive_kernel_delay_ns that are not host_wait."},
    {"kernel_wait_count", Type::integer, Unit::count, Role::detail,
     "Number of such gaps, with those of overlapping rows, which last 0."},
    {"kernel_wait_ratio", Type::real, Unit::ratio, Role::value, "kernel_wait_ns / idle_ns."},
    {"other_ns", Type::integer, Unit::ns, Role::detail, "All other gaps."},
    {"other_count", Type::integer, Unit::count, Role::detail, "Number of such gaps."},
    {"other_ratio", Type::real, Unit::ratio, Role::value, "other_ns / idle_ns."},
    {"overlapping_rows", Type::integer, Unit::count, Role::detail,
     "Rows that start before an earlier one on the stream has ended."},
    {"unlaunched_rows", Type::integer, Unit::count, Role::detail,
     "Rows whose launch is not in the trace; they are never host_wait."},
};

constexpr Param kParams[] = {kConsecutiveKernelDelay};

void add_row(Table& table, const Trace& trace, const trace::Stream& stream, Ns delay) {
  const trace::DeviceWork& work = trace.device_work();
  std::array<Ns, kIdleCategories> ns{};
  std::array<i64, kIdleCategories> count{};
  i64 overlapping = 0;
  for (const Gap& gap : idle_gaps(trace, stream, delay)) {
    ns[static_cast<size_t>(gap.category)] += gap.ns;
    ++count[static_cast<size_t>(gap.category)];
    overlapping += gap.overlap;
  }
  Ns last_end = work.end[stream.begin];
  i64 unlaunched = 0;
  for (u32 row = stream.begin; row < stream.end; ++row) {
    last_end = std::max(last_end, work.end[row]);
    unlaunched += work.launch[row] == kNone;
  }
  const Ns span = last_end - work.start[stream.begin];
  const Ns idle = ns[0] + ns[1] + ns[2];
  std::vector<Value> row = {stream.device, stream.stream, i64{stream.end - stream.begin},
                            span - idle,   span,          idle};
  for (size_t c = 0; c < kIdleCategories; ++c) row.insert(row.end(), {ns[c], count[c], ratio(ns[c], idle)});
  row.insert(row.end(), {overlapping, unlaunched});
  table.append(row);
}

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kIdleTimeBreakdown.name, std::span(kColumns).subspan(1));
  if (trace.device_work().event.empty()) note_no_device_work(table);
  for (const trace::Stream& stream : trace.device_work().streams)
    add_row(table, trace, stream, params[kConsecutiveKernelDelay.name]);
  return table;
}

}  // namespace

const Analysis kIdleTimeBreakdown = {
    .name = "idle_time_breakdown",
    .summary = "Why each stream was idle: waiting for the host, between kernels, or something else.",
    .doc =
        "One row per stream that has device work. A gap is the time from the end of the earlier rows of the "
        "stream to the start of the next one; rows that overlap have a gap of 0. host_wait: the host call "
        "that launched the later row started after the earlier rows had ended, so the stream was out of "
        "work. kernel_wait: else, if the gap is shorter than consecutive_kernel_delay_ns. other: the rest, "
        "for instance a wait for an event of another stream. Launch and row belong together by equal "
        "correlation; a row without a known launch is never host_wait. Time before the first and after the "
        "last row is not idle. Ratios are of idle_ns, null where that is 0. Definition after Holistic Trace "
        "Analysis, with overlaps clamped.",
    .params = kParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
