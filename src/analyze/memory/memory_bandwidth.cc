#include "analyze/list.h"
#include "analyze/memory/copies.h"
#include "analyze/statistics.h"
#include "analyze/time/device_time.h"
#include "analyze/time/intervals.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"device", Type::integer, Unit::none, Role::key, "Device number."},
    {"type", Type::text, Unit::none, Role::key,
     "What is copied where: Memcpy HtoD, DtoH, DtoD, PtoP, or Memset."},
    {"count", Type::integer, Unit::count, Role::value, "Number of copies."},
    {"bytes", Type::integer, Unit::bytes, Role::value, "What they move, as far as the trace says."},
    {"sum_ns", Type::integer, Unit::ns, Role::detail, "Sum of their durations."},
    {"busy_ns", Type::integer, Unit::ns, Role::value, "Time in which at least one of them runs."},
    {"achieved_bytes_per_s", Type::real, Unit::bytes_per_s, Role::value,
     "bytes divided by sum_ns; null where that is 0."},
    {"busy_bytes_per_s", Type::real, Unit::bytes_per_s, Role::detail,
     "Mean over busy_ns of the bandwidths of what is in flight; null where that is 0."},
    {"max_bytes_per_s", Type::real, Unit::bytes_per_s, Role::value, "The most in flight for any time."},
    {"without_bandwidth", Type::integer, Unit::count, Role::detail,
     "Copies that have no bandwidth in the trace."},
    {"points", Type::integer, Unit::count, Role::detail,
     "Begins and ends after which something is in flight."},
    {"point_mean_bytes_per_s", Type::real, Unit::bytes_per_s, Role::detail,
     "Mean of what is in flight over these points; null without one, as the next."},
    {"point_std_bytes_per_s", Type::real, Unit::bytes_per_s, Role::detail,
     "Standard deviation of that sample."},
    {"point_min_bytes_per_s", Type::real, Unit::bytes_per_s, Role::detail, "Least of these points."},
    {"point_p25_bytes_per_s", Type::real, Unit::bytes_per_s, Role::detail,
     "A quarter is less; interpolated."},
    {"point_median_bytes_per_s", Type::real, Unit::bytes_per_s, Role::detail, "Half is less; interpolated."},
    {"point_p75_bytes_per_s", Type::real, Unit::bytes_per_s, Role::detail,
     "Three quarters are less; interpolated."},
    {"point_max_bytes_per_s", Type::real, Unit::bytes_per_s, Role::detail, "Most of these points."},
};

constexpr Ns kLeastOfHta = 1000;

struct InFlight {
  double mean_while_busy = 0, max = 0;
};

InFlight over_time(const CopyType& type, Ns busy) {
  InFlight in_flight;
  const std::vector<BandwidthPoint> points = bandwidth_points(type, 0);
  double weighted = 0;
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    const Ns dur = points[i + 1].time - points[i].time;
    if (dur == 0) continue;
    weighted += bytes_per_s(points[i].bandwidth) * static_cast<double>(dur);
    in_flight.max = std::max(in_flight.max, bytes_per_s(points[i].bandwidth));
  }
  if (busy > 0) in_flight.mean_while_busy = weighted / static_cast<double>(busy);
  return in_flight;
}

Value rate(double amount, Ns time) {
  return time > 0 ? Value(amount * 1e9 / static_cast<double>(time)) : Value();
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kMemoryBandwidth.name, std::span(kColumns).subspan(1));
  if (trace.device_work().event.empty()) note_no_device_work(table);
  const std::vector<CopyType> types = copies_by_type(trace);
  note_without_bandwidth(types, table);
  for (const CopyType& type : types) {
    Union running;
    Ns sum = 0;
    for (const Copy& copy : type.copies) {
      extend(running, copy.start, copy.end);
      sum += copy.end - copy.start;
    }
    const Ns busy = length(running);
    const InFlight in_flight = over_time(type, busy);
    std::vector<i64> points;
    for (const BandwidthPoint& point : bandwidth_points(type, kLeastOfHta))
      if (point.bandwidth > 0) points.push_back(point.bandwidth);
    std::vector<Value> row = {type.device,
                              type.name,
                              static_cast<i64>(type.copies.size()),
                              type.bytes,
                              sum,
                              busy,
                              rate(static_cast<double>(type.bytes), sum),
                              busy > 0 ? Value(in_flight.mean_while_busy) : Value(),
                              in_flight.max,
                              type.without_bandwidth,
                              static_cast<i64>(points.size())};
    if (points.empty()) {
      row.resize(std::size(kColumns) - 1);
    } else {
      const Statistics s = statistics_of(points);
      for (const double x :
           {s.mean, s.std, static_cast<double>(s.min), s.p25, s.median, s.p75, static_cast<double>(s.max)})
        row.emplace_back(x / kUnitsPerByte);
    }
    table.append(row);
  }
  return table;
}

}  // namespace

const Analysis kMemoryBandwidth = {
    .name = "memory_bandwidth",
    .summary = "What copies and sets move, and how fast, per rank, device and type.",
    .doc =
        "Copies and sets grouped by device and type, which is the beginning of their names. achieved is their bytes "
        "divided by the sum of their durations. The bandwidth of each copy, as the trace has it (GB/s are 10^9 bytes a second), counts "
        "from its start to its end; busy_bytes_per_s is the mean of their sum over the time in which any of them runs, max "
        "the most. The points are those of HTA's get_memory_bw_summary: what is in flight after each begin and each end, "
        "where it is more than 0, with a begin before an end at the same time and copies of less than 1 us counted as "
        "1 us. Sums are of whole ten-thousandths of a byte per second, so that nothing is left when the last copy ends (HTA: "
        "B23); HTA adds up all devices of a rank. A rank without device work has no rows.",
    .params = {},
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs | ArgSet{Arg::bytes, Arg::memory_bandwidth},
    .map = map_trace,
};

}  // namespace spotter::analyze
