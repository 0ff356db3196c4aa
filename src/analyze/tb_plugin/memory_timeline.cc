#include <algorithm>

#include "analyze/tb_plugin/list.h"
#include "analyze/tb_plugin/memory.h"

namespace spotter::analyze::tb_plugin {
namespace {

const Field kColumns[] = {
    kRankField,
    kPlaceFields[0],
    kPlaceFields[1],
    {"peak_allocated_bytes", Type::integer, Unit::bytes, Role::value, "The most in use at any time."},
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kMemoryTimeline.name, std::span(kColumns).subspan(1));
  for (const auto& [place, points] : curves_of(records_of(trace, events_of(trace), table.notes)))
    table.append(
        {place.type(), place.id, std::ranges::max_element(points, {}, &CurvePoint::allocated)->allocated});
  return table;
}

}  // namespace

const Analysis kMemoryTimeline = {
    .name = "memory_timeline",
    .summary = "How much memory was in use at most, as the TensorBoard plugin has it.",
    .doc =
        "The peaks of the memory curves of torch-tb-profiler 0.4.3, which shows them in MB of 2^20 bytes. Only events with an address and with both of the allocator's totals count, "
        "which PyTorch before 1.12 does not write, and only those of CPU and CUDA (Q8).",
    .params = {},
    .columns = kColumns,
    .reads = kEventArgs | kMemoryArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze::tb_plugin
