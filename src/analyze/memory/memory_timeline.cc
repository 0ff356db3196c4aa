#include <algorithm>

#include "analyze/list.h"
#include "analyze/memory/allocations.h"
#include "base/saturated.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    kDeviceTypeField,
    kDeviceIdField,
    {"allocations", Type::integer, Unit::count, Role::value, "Number of allocations."},
    {"frees", Type::integer, Unit::count, Role::value, "Number of frees."},
    {"sum_bytes", Type::integer, Unit::bytes, Role::value, "Sum of the sizes of the allocations."},
    {"peak_allocated_bytes", Type::integer, Unit::bytes, Role::value, "The most in use at any time."},
    {"peak_reserved_bytes", Type::integer, Unit::bytes, Role::value,
     "The most held by the allocator at any time, used or not; null where the trace does not say."},
    {"peak_time_ns", Type::integer, Unit::ns, Role::time, "When that most came into use first, Unix time."},
    {"start_allocated_bytes", Type::integer, Unit::bytes, Role::detail, "In use after the first event."},
    {"end_allocated_bytes", Type::integer, Unit::bytes, Role::detail, "In use after the last event."},
    {"retained_bytes", Type::integer, Unit::bytes, Role::value,
     "Sizes of the allocations that no later event frees; null where the trace has no addresses."},
};

// What was allocated in the trace and is not free at its end.
Value retained_bytes(const MemoryDevice& device) {
  const std::optional<Allocations> allocations = pair_allocations(device);
  if (!allocations) return {};
  i64 sum = 0;
  for (const Allocation& a : allocations->all)
    if (a.begin != kNone && a.end == kNone) sum = add_saturated(sum, a.bytes);
  return sum;
}

void append(const Trace& trace, const MemoryDevice& device, Table& table) {
  i64 allocations = 0, frees = 0, sum = 0;
  std::optional<i64> peak_reserved;
  for (const AllocatorEvent& event : device.events) {
    allocations += event.bytes > 0;
    frees += event.bytes < 0;
    if (event.bytes > 0) sum = add_saturated(sum, event.bytes);
    if (event.reserved) peak_reserved = std::max(peak_reserved.value_or(*event.reserved), *event.reserved);
  }
  const AllocatorEvent& peak = device.events[peak_of(device)];
  table.append({std::string_view(device.type), device.id, allocations, frees, sum, peak.allocated,
                peak_reserved ? Value(*peak_reserved) : Value(), trace.info().base_ns + peak.time,
                device.events.front().allocated, device.events.back().allocated, retained_bytes(device)});
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kMemoryTimeline.name, std::span(kColumns).subspan(1));
  for (const MemoryDevice& device : memory_by_device(trace, table)) append(trace, device, table);
  return table;
}

}  // namespace

const Analysis kMemoryTimeline = {
    .name = "memory_timeline",
    .summary = "How much memory was in use at most, allocated in all and retained, per rank and device.",
    .doc =
        "From the [memory] events that PyTorch's profiler writes with profile_memory=True, one per allocation (positive size) or free "
        "(negative size), in order of time, then of the file. In use means what the allocator of the device says in the event (Total Allocated); "
        "PyTorch before 1.12 does not say it, and there it is the sum of the sizes since the first event, so that what was allocated earlier is "
        "missing and a value may be negative. The allocator of the CPU counts only what it allocated while it was profiled, and reserves "
        "nothing (0). Retained is what was allocated and not freed within the trace, matched by address: growth, or a result that was "
        "kept. A second allocation at an address in use means that the free between was not recorded. Failed allocations ([OutOfMemory]) do "
        "not count. One allocator's numbers are of one process, not of all that use the device. The plugin of TensorBoard has the same peak, which it shows in MB of 2^20 "
        "bytes, but none for traces without addresses or totals; it matches "
        "addresses without looking at the device, and its statistics add up only what was allocated inside operators. What HTA calls memory timeline reads another file, that of export_memory_timeline.",
    .params = {},
    .columns = kColumns,
    .reads = kAllocatorEventArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze
