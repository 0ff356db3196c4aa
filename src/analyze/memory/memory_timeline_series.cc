#include "analyze/list.h"
#include "analyze/memory/allocator_events.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    kDeviceTypeField,
    kDeviceIdField,
    {"time_ns", Type::integer, Unit::ns, Role::time, "Of the allocation or free, Unix time."},
    {"allocated_bytes", Type::integer, Unit::bytes, Role::value, "In use from then on."},
    {"reserved_bytes", Type::integer, Unit::bytes, Role::value,
     "Held by the allocator from then on, used or not; null where the trace does not say."},
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kMemoryTimelineSeries.name, std::span(kColumns).subspan(1));
  for (const MemoryDevice& device : memory_by_device(trace, table))
    for (const AllocatorEvent& event : device.events)
      table.append({std::string_view(device.type), device.id, trace.info().base_ns + event.time,
                    event.allocated, event.reserved ? Value(*event.reserved) : Value()});
  return table;
}

}  // namespace

const Analysis kMemoryTimelineSeries = {
    .name = "memory_timeline_series",
    .summary = "The memory in use and reserved over time, per rank and device.",
    .doc =
        "One row per allocation or free, by device and time, with the values of memory_timeline. The plugin of TensorBoard draws the same "
        "points in MB of 2^20 bytes over the time since the profiler's start, and thins them out to 10,240 per device.",
    .params = {},
    .columns = kColumns,
    .reads = kAllocatorEventArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
