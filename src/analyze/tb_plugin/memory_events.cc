#include <unordered_map>

#include "analyze/tb_plugin/list.h"
#include "analyze/tb_plugin/memory.h"
#include "base/stable_sort.h"

namespace spotter::analyze::tb_plugin {
namespace {

const Field kColumns[] = {
    kRankField,
    kPlaceFields[0],
    kPlaceFields[1],
    {"operator", Type::text, Unit::none, Role::value,
     "Operator that the allocation is charged to; null where there is none, which the plugin shows as <unknown>."},
    {"bytes", Type::integer, Unit::bytes, Role::value, "Size, as allocated, else as released."},
    {"allocated_ns", Type::integer, Unit::ns, Role::time,
     "When it was allocated, Unix time; null: not known."},
    {"released_ns", Type::integer, Unit::ns, Role::time, "When it was released, Unix time; null: not known."},
    {"held_ns", Type::integer, Unit::ns, Role::value, "Time between the two; null where one of them is."},
    {"parent_operator", Type::text, Unit::none, Role::detail,
     "What is around the operator in the tree, which may be a step or a module; the plugin shows it before an operator "
     "that begins with aten::empty. Null where there is none."},
};

constexpr size_t kNoRecord = static_cast<size_t>(-1);

struct Piece {
  size_t allocation = kNoRecord, release = kNoRecord;  // of the records
};

// Those with both by their release, then what was not released, then what was not allocated. An address is
// looked up whatever the device (Q12); of two allocations or releases in a row at one the last one counts.
std::vector<Piece> pieces_of(const std::vector<Record>& records) {
  std::vector<Piece> pieces;
  std::unordered_map<i64, size_t> open, lone;
  std::vector<size_t> order;
  for (size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    if (!record.address) continue;
    if (record.bytes > 0) {
      open[*record.address] = i;
    } else if (const auto allocation = open.extract(*record.address)) {
      pieces.push_back({allocation.mapped(), i});
    } else {
      lone[*record.address] = i;
    }
  }
  const auto append = [&](const std::unordered_map<i64, size_t>& left, size_t Piece::* which) {
    std::vector<size_t> rows;
    for (const auto& [address, row] : left) rows.push_back(row);
    std::ranges::sort(rows);
    for (const size_t row : rows) pieces.emplace_back().*which = row;
  };
  append(open, &Piece::allocation);
  append(lone, &Piece::release);
  return pieces;
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kMemoryEvents.name, std::span(kColumns).subspan(1));
  const Events events = events_of(trace);
  const std::vector<Record> records = records_of(trace, events, table.notes);
  const Tree tree = tree_of(trace, events, launches_of(trace, events));
  const Charges charges = charge(trace, tree, records);
  for (const Piece& piece : pieces_of(records)) {
    const bool is_allocated = piece.allocation != kNoRecord, is_released = piece.release != kNoRecord;
    const Record& first = records[is_allocated ? piece.allocation : piece.release];
    const u32 node = is_allocated ? charges.node[piece.allocation] : kNone;
    const u32 parent = node == kNone ? kNone : tree.nodes[node].parent;
    const auto time = [&](size_t record) {
      return record == kNoRecord ? Value() : Value(unix_ns(trace.info().base_ns, records[record].time));
    };
    table.append(
        {first.place.type(), first.place.id,
         node == kNone ? Value() : Value(name_of(trace, tree.nodes[node])),
         first.bytes < 0 ? -first.bytes : first.bytes, time(piece.allocation), time(piece.release),
         is_allocated && is_released ? Value(ns_of(records[piece.release].time - first.time)) : Value(),
         parent == kNone ? Value() : or_null(name_of(trace, tree.nodes[parent]))});
  }
  return table;
}

}  // namespace

const Analysis kMemoryEvents = {
    .name = "memory_events",
    .summary = "Each piece of memory, as the TensorBoard plugin has it.",
    .doc =
        "The memory events of torch-tb-profiler 0.4.3, with its mistakes (docs/tb_plugin.md has the Q-numbers). A row is a piece of memory from its allocation to its release at the same address, whatever the device (Q12); of two allocations in a row at one "
        "address the first is nowhere. The operator is the innermost node of the plugin's tree around the allocation, start <= time < end, if that is an operator; where a module or a step is between them it is nobody's. Pieces by their release, then those "
        "without one, then releases of what was allocated before. The plugin shows KB and ms, and at first only the largest three quarters of the range of sizes (Q20).",
    .params = {},
    .columns = kColumns,
    .reads = kEventArgs | kMemoryArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze::tb_plugin
