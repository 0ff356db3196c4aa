#include "analyze/list.h"
#include "analyze/memory/copies.h"
#include "analyze/time/device_time.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"device", Type::integer, Unit::none, Role::key, "Device number."},
    {"type", Type::text, Unit::none, Role::key,
     "What is copied where: Memcpy HtoD, DtoH, DtoD, PtoP, or Memset."},
    {"time_ns", Type::integer, Unit::ns, Role::time, "When it changes, Unix time."},
    {"bytes_per_s", Type::real, Unit::bytes_per_s, Role::value, "What is in flight from then on."},
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kMemoryBandwidthSeries.name, std::span(kColumns).subspan(1));
  if (trace.device_work().event.empty()) note_no_device_work(table);
  const std::vector<CopyType> types = copies_by_type(trace);
  note_without_bandwidth(types, table);
  for (const CopyType& type : types)
    for (const BandwidthPoint& point : bandwidth_points(type, 0))
      table.append({type.device, type.name, trace.info().base_ns + point.time, bytes_per_s(point.bandwidth)});
  return table;
}

}  // namespace

const Analysis kMemoryBandwidthSeries = {
    .name = "memory_bandwidth_series",
    .summary = "What copies and sets have in flight over time, per rank, device and type.",
    .doc =
        "One row per begin and per end of a copy or set, by device, type and time, with the sum of the bandwidths of those "
        "that run from then on, as memory_bandwidth adds them up.",
    .params = {},
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs | ArgSet{Arg::bytes, Arg::memory_bandwidth},
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
