#include "analyze/tb_plugin/gpu_use.h"
#include "analyze/tb_plugin/list.h"

namespace spotter::analyze::tb_plugin {
namespace {

const Field kColumns[] = {
    kRankField,
    {"device", Type::integer, Unit::none, Role::key, "Device number."},
    {"time_ns", Type::integer, Unit::ns, Role::time, "Start of a piece of time, or its end, Unix time."},
    {"sm_efficiency_ratio", Type::real, Unit::ratio, Role::value,
     "Part of the multiprocessors that have a block to run in the piece; 0 at its end."},
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kSmEfficiencySeries.name, std::span(kColumns).subspan(1));
  for (const auto& [device, kernels] : gpus_of(trace, events_of(trace))) {
    for (const GpuPiece& piece : multiprocessor_pieces(kernels)) {
      table.append({device, unix_ns(trace.info().base_ns, piece.time.start), piece.part});
      table.append({device, unix_ns(trace.info().base_ns, piece.time.end), 0.0});
    }
  }
  return table;
}

}  // namespace

const Analysis kSmEfficiencySeries = {
    .name = "sm_efficiency_series",
    .summary = "Which part of each device's multiprocessors has work, as the TensorBoard plugin draws it.",
    .doc =
        "The counters Est. SM Efficiency that torch-tb-profiler 0.4.3 puts into the trace that it shows: for each piece of time in which the same kernels run min(sum of their blocks per SM, 1) at its start, and 0 at its end. What remains of sums of doubles "
        "where nothing runs may be pieces of 1e-14. The 1 and the 0 that the plugin draws first, for the axis, are not here.",
    .params = {},
    .columns = kColumns,
    .reads = kEventArgs | kGpuArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze::tb_plugin
