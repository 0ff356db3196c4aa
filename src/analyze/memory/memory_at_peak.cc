#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "analyze/list.h"
#include "analyze/memory/memory_categories.h"
#include "analyze/memory/placed_memory.h"
#include "analyze/statistics.h"
#include "analyze/top.h"
#include "base/saturated.h"
#include "base/stable_sort.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    kDeviceTypeField,
    kDeviceIdField,
    {"category", Type::text, Unit::none, Role::key,
     "parameters, gradients, optimizer_state, activations, temporaries or unknown."},
    {"operator", Type::text, Unit::none, Role::value,
     "Innermost operator around the allocation; null where there is none or none is known; others: all of the category "
     "that are not listed."},
    {"bytes", Type::integer, Unit::bytes, Role::value, "Held at the moment of the device's peak."},
    {"ratio", Type::real, Unit::ratio, Role::value, "Share of what is in use at that moment."},
    {"pieces", Type::integer, Unit::count, Role::value,
     "Number of allocations that it is made of; null where they were not recorded."},
    {"phase", Type::text, Unit::none, Role::value,
     "Phase of training that it was allocated in: forward, backward, optimizer, other, or before: not in the "
     "recording; null for others."},
    {"module", Type::text, Unit::none, Role::value,
     "Innermost nn.Module around the allocation, or around the forward operator of a backward one; null where none "
     "is known, and for others."},
};

constexpr Param kParams[] = {kTop};
constexpr std::string_view kBefore = "before";  // the recording

struct Holder {
  MemoryCategory category = MemoryCategory::unknown;
  std::string_view op, module, phase;
  i64 bytes = 0;
  std::optional<i64> pieces;
};

// Who holds what after the event `peak`: all that is in use then.
std::vector<Holder> holders_at(const Trace& trace, size_t peak, const MemoryDevice& device,
                               const Allocations& allocations, const MemoryPlaces& all, size_t number) {
  const std::vector<MemoryPlace>& places = all.of[number];
  std::map<std::tuple<MemoryCategory, std::string_view, std::string_view, TrainingPhase>, Holder> groups;
  i64 known = 0;
  for (const Allocation& a : allocations.all) {
    if (a.begin == kNone || a.begin > peak || a.end <= peak) continue;  // kNone is later than all
    const MemoryPlace& place = places[a.begin];
    const MemoryCategory category = category_of(a, device, places, all.passes);
    const std::string_view op = operator_name(trace, place.op), module = all.modules[place.module];
    Holder& holder = groups[{category, op, module, place.phase}];
    holder = {category,
              op,
              module,
              name_of(place.phase),
              add_saturated(holder.bytes, a.bytes),
              holder.pieces.value_or(0) + 1};
    known = add_saturated(known, a.bytes);
  }
  std::vector<Holder> holders;
  for (const auto& [key, holder] : groups) holders.push_back(holder);
  if (const i64 before = subtract_saturated(device.events[peak].allocated, known); before != 0)
    holders.push_back({MemoryCategory::unknown, {}, {}, kBefore, before, {}});
  return holders;
}

// Those with the most first.
void sort_by_bytes(std::vector<Holder>& holders) {
  std::ranges::sort(holders, [](const Holder& a, const Holder& b) {
    return std::tuple(b.bytes, a.category, a.op, a.module, a.phase) <
           std::tuple(a.bytes, b.category, b.op, b.module, b.phase);
  });
}

// Of those that are not among the first `top` (0: all are) makes one for each category.
void fold_others(std::vector<Holder>& holders, size_t top) {
  if (top == 0 || holders.size() <= top) return;
  std::map<MemoryCategory, Holder> others;
  for (const Holder& h : std::span(holders).subspan(top)) {
    Holder& sum = others[h.category];
    sum = {h.category,
           "others",
           {},
           {},
           add_saturated(sum.bytes, h.bytes),
           sum.pieces.value_or(0) + h.pieces.value_or(0)};
  }
  holders.resize(top);
  for (const auto& [category, holder] : others) holders.push_back(holder);
}

// The categories with the most first; within each the order stays.
void sort_by_category(std::vector<Holder>& holders) {
  std::array<i64, kMemoryCategories> bytes{};
  const auto sum = [&](const Holder& h) -> i64& { return bytes[static_cast<size_t>(h.category)]; };
  for (const Holder& h : holders) sum(h) = add_saturated(sum(h), h.bytes);
  stable_sort(holders, [&](const Holder& a, const Holder& b) {
    return std::tuple(sum(b), a.category) < std::tuple(sum(a), b.category);
  });
}

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  return memory_at_peak_table(trace, placed_memory(trace), params);
}

}  // namespace

Table memory_at_peak_table(const Trace& trace, const PlacedMemory& memory, const ParamValues& params) {
  Table table(kMemoryAtPeak.name, std::span(kColumns).subspan(1));
  table.notes = memory.notes;
  const auto& [devices, places, notes] = memory;
  note_no_modules(places, table);
  for (size_t d = 0; d < devices.size(); ++d) {
    const MemoryDevice& device = devices[d];
    const std::optional<Allocations> allocations = pair_allocations(device, table);
    if (!allocations) continue;
    const size_t peak = peak_of(device);
    std::vector<Holder> holders = holders_at(trace, peak, device, *allocations, places, d);
    sort_by_bytes(holders);
    if (!holders.empty() && holders.back().bytes < 0)
      table.notes.add(
          "more_than_in_use", Severity::repair,
          "devices have less in use at their peak than is known to be allocated; the phase before has what is too much");
    fold_others(holders, static_cast<size_t>(params[kTop.name]));
    sort_by_category(holders);
    for (const Holder& h : holders)
      table.append({std::string_view(device.type), device.id, name_of(h.category), or_null(h.op), h.bytes,
                    ratio(h.bytes, device.events[peak].allocated), or_null(h.pieces), or_null(h.phase),
                    or_null(h.module)});
  }
  return table;
}

const Analysis kMemoryAtPeak = {
    .name = "memory_at_peak",
    .summary = "Who holds the memory at the moment of each device's peak: what for, operator and module.",
    .doc =
        "The peak is that of memory_timeline: the first event after which the most is in use. Each allocation that is held then "
        "counts in the row of its category, operator, phase and module; what is in use and was not seen to be allocated is a row of the category "
        "unknown and the phase before, so that the rows of a device add up to its peak. operator is the innermost operator around "
        "the allocation's event on its thread, start <= time < end; module the innermost nn.Module around it there (with those around it, as modules has its path, where several have its name), or, of what is allocated "
        "in the backward phase outside modules, that around the forward operator of the innermost node of autograd. "
        "The phase optimizer is what is inside an annotation of an optimizer (Optimizer.step#..., Optimizer.zero_grad#...). backward "
        "is what is inside a node of autograd (autograd::engine::evaluate_function..., or an operator that tells its Fwd thread id), or on "
        "a thread of autograd other than the main one. forward is what is inside an nn.Module, inside DistributedDataParallel.forward, "
        "FullyShardedDataParallel.forward or DataParallel.forward, or inside the forward operator of a node of autograd in the trace: "
        "the last operator to begin, before the node, with its Sequence number. The innermost of these counts, but what is "
        "recomputed inside a backward phase is backward. other is all the rest. The categories follow from the phase of the allocation "
        "and from its lifetime, whose end may lie after the peak. optimizer_state: allocated in the phase optimizer, and it outlives the "
        "annotation. gradients: allocated in the phase backward and held when the next forward or optimizer phase begins, or, where none does, at the "
        "end of the recording; a gradient that is only added to one that is kept is temporary. activations: allocated in the phase forward and held when the next backward phase begins. parameters, "
        "and buffers: allocated while a module is made or moved, which is inside the Python functions __init__, _apply and "
        "reset_parameters of torch/nn/modules, and they outlive the outermost of these calls; traces without Python functions "
        "do not tell them. temporaries: what is released before these moments; also what is allocated in the phase forward, released, and not "
        "followed by a backward phase, and in the phase other what is released before the outermost operator around it ends. "
        "unknown: the rest. Sorted by the bytes of the category, then of the row; what is not among the `top` largest of a device is put into rows named "
        "others, the last of each category. Traces whose events have no addresses (PyTorch before 1.12) have no rows.",
    .params = kParams,
    .columns = kColumns,
    .reads = kMemoryPlaceArgs,
    .map = map_trace,
    .map_together = map_placed_memory,
};

}  // namespace spotter::analyze
