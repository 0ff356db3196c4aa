#include "analyze/list.h"
#include "analyze/memory/allocations.h"
#include "analyze/memory/memory_categories.h"
#include "analyze/memory/memory_places.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    kDeviceTypeField,
    kDeviceIdField,
    {"operator", Type::text, Unit::none, Role::value,
     "Innermost operator around the allocation; null where there is none, and where memory was allocated before the "
     "recording."},
    {"bytes", Type::integer, Unit::bytes, Role::value, "Size, as allocated."},
    {"allocated_ns", Type::integer, Unit::ns, Role::time,
     "When it was allocated, Unix time; null: before the recording."},
    {"released_ns", Type::integer, Unit::ns, Role::time,
     "When it was released, Unix time; null: not within the recording, or unseen."},
    {"held_ns", Type::integer, Unit::ns, Role::value, "Time between the two; null where one of them is."},
    {"category", Type::text, Unit::none, Role::value,
     "parameters, gradients, optimizer_state, activations, temporaries or unknown."},
    {"phase", Type::text, Unit::none, Role::value,
     "Phase of training that it was allocated in: forward, backward, optimizer or other; null: before the "
     "recording."},
    {"module", Type::text, Unit::none, Role::value,
     "Innermost nn.Module around the allocation, or around the forward operator of a backward one; null where none "
     "is known."},
    {"parent_operator", Type::text, Unit::none, Role::detail,
     "Innermost operator around the operator; null where there is none."},
};

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kMemoryEvents.name, std::span(kColumns).subspan(1));
  const std::vector<MemoryDevice> devices = memory_by_device(trace, table);
  const MemoryPlaces places = memory_places(trace, devices);
  note_no_modules(places, table);
  const auto time = [&](const MemoryDevice& device, u32 event) {
    return event == kNone ? Value() : Value(trace.info().base_ns + device.events[event].time);
  };
  for (size_t d = 0; d < devices.size(); ++d) {
    const MemoryDevice& device = devices[d];
    const std::optional<Allocations> allocations = pair_allocations(device, table);
    if (!allocations) continue;
    for (const Allocation& a : allocations->all) {
      const u32 release = a.has_release ? a.end : kNone;
      const bool is_known = a.begin != kNone && release != kNone;
      const MemoryPlace place = a.begin == kNone ? MemoryPlace{} : places.of[d][a.begin];
      table.append({std::string_view(device.type), device.id, or_null(operator_name(trace, place.op)),
                    a.bytes, time(device, a.begin), time(device, release),
                    is_known ? Value(device.events[release].time - device.events[a.begin].time) : Value(),
                    name_of(category_of(a, device, places.of[d], places.passes)),
                    a.begin == kNone ? Value() : Value(name_of(place.phase)),
                    or_null(places.modules[place.module]), or_null(operator_name(trace, place.parent_op))});
    }
  }
  return table;
}

}  // namespace

const Analysis kMemoryEvents = {
    .name = "memory_events",
    .summary = "Each piece of memory: when it was allocated and released, by which operator, and what for.",
    .doc =
        "One row per piece of memory, by device and by the first of its [memory] events (see memory_timeline). A release belongs to the last "
        "allocation at its address on its device; one without such an allocation is of memory that was allocated before the recording. "
        "A second allocation at an address in use means that the release between was not recorded; when that was is not known. "
        "operator is the innermost operator around the allocation's event on its thread, start <= time < end; phase, module and category "
        "are those of memory_at_peak. The plugin of TensorBoard matches addresses without looking at the device, leaves out memory whose release was "
        "not recorded, shows an operator that begins with aten::empty behind what encloses it, and shows at first only the largest three "
        "quarters of the range of sizes; here are all. Traces whose events have no addresses (PyTorch before 1.12) have no rows.",
    .params = {},
    .columns = kColumns,
    .reads = kMemoryPlaceArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
