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
    {"idle_category", Type::text, Unit::none, Role::key,
     "Why the stream waited: host_wait, kernel_wait or other."},
    {"count", Type::integer, Unit::count, Role::value, "Number of gaps."},
    {"mean_ns", Type::real, Unit::ns, Role::value, "Mean length of a gap."},
    {"std_ns", Type::real, Unit::ns, Role::detail, "Standard deviation of the sample; 0 for one gap."},
    {"min_ns", Type::integer, Unit::ns, Role::detail, "Shortest gap."},
    {"p25_ns", Type::real, Unit::ns, Role::detail, "A quarter of the gaps is shorter; interpolated."},
    {"median_ns", Type::real, Unit::ns, Role::value, "Half of the gaps is shorter; interpolated."},
    {"p75_ns", Type::real, Unit::ns, Role::detail, "Three quarters of the gaps are shorter; interpolated."},
    {"max_ns", Type::integer, Unit::ns, Role::value, "Longest gap."},
};

constexpr Param kParams[] = {kConsecutiveKernelDelay};

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kIdleIntervalStatistics.name, std::span(kColumns).subspan(1));
  if (trace.device_work().event.empty()) note_no_device_work(table);
  for (const trace::Stream& stream : trace.device_work().streams) {
    std::array<std::vector<Ns>, kIdleCategories> gaps;
    for (const Gap& gap : idle_gaps(trace, stream, params[kConsecutiveKernelDelay.name]))
      gaps[static_cast<size_t>(gap.category)].push_back(gap.ns);
    for (size_t c = 0; c < kIdleCategories; ++c) {
      if (gaps[c].empty()) continue;
      const Statistics s = statistics_of(gaps[c]);
      table.append({stream.device, stream.stream, idle_category_name(static_cast<IdleCategory>(c)), s.count,
                    s.mean, s.std, s.min, s.p25, s.median, s.p75, s.max});
    }
  }
  return table;
}

}  // namespace

const Analysis kIdleIntervalStatistics = {
    .name = "idle_interval_statistics",
    .summary = "How long the gaps of each stream are, by the reason for them.",
    .doc =
        "Statistics of the gaps that idle_time_breakdown adds up, with the same categories and parameter: "
        "one row per stream and category that has gaps. Overlapping rows count as kernel_wait gaps of 0. "
        "std is that of a sample (n - 1), 0 for one gap; quartiles interpolate linearly between neighbours.",
    .params = kParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
