#include <algorithm>
#include <unordered_map>

#include "analyze/list.h"
#include "analyze/memory/placed_memory.h"
#include "analyze/operators/repeated_calls.h"
#include "analyze/top.h"
#include "base/saturated.h"
#include "trace/annotations.h"
#include "trace/nesting.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    kDeviceTypeField,
    kDeviceIdField,
    {"operator", Type::text, Unit::none, Role::key, "Operator; others: all that are not listed."},
    {"calls", Type::integer, Unit::count, Role::value,
     "Number of calls, also of those that allocate nothing, and whatever the device; one that is all that a call of the same "
     "operator does is no other call."},
    {"self_allocated_bytes", Type::integer, Unit::bytes, Role::value,
     "Sum of the sizes that the operator itself allocated."},
    {"self_increase_bytes", Type::integer, Unit::bytes, Role::value,
     "Sizes that the operator itself allocated, less those released in it."},
    {"self_allocations", Type::integer, Unit::count, Role::value, "Number of its own allocations."},
    {"allocated_bytes", Type::integer, Unit::bytes, Role::value,
     "Sum of the sizes allocated in it and in the operators below it; null for others."},
    {"increase_bytes", Type::integer, Unit::bytes, Role::detail,
     "Sizes allocated less sizes released, in it and in the operators below it; null for others."},
    {"allocations", Type::integer, Unit::count, Role::detail,
     "Number of allocations, in it and in the operators below it; null for others."},
};

constexpr Param kParams[] = {kTop};

struct Sums {
  i64 allocated = 0, increase = 0, allocations = 0;

  void add(const AllocatorEvent& event) {
    increase = add_saturated(increase, event.bytes);
    if (event.bytes <= 0) return;
    allocated = add_saturated(allocated, event.bytes);
    ++allocations;
  }
  void add(const Sums& sums) {
    allocated = add_saturated(allocated, sums.allocated);
    increase = add_saturated(increase, sums.increase);
    allocations += sums.allocations;
  }
};

struct Operator {
  StringId name = kNone;  // kNone: others
  i64 calls = 0;
  Sums self, all;  // of others `all` would count calls in each other twice
  i64 open = 0;    // calls that enclose the current position

  void merge(const Operator& o) {
    calls += o.calls;
    self.add(o.self);
  }
};

// What is allocated inside the spans that have any share in it, of one device.
class Tree {
 public:
  Tree(const trace::Nesting& nesting, std::vector<u32>& item_of) : nesting_(nesting), item_of_(item_of) {}
  ~Tree() {
    for (const Item& item : items_) item_of_[item.span] = kNone;
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  void add(u32 op, const AllocatorEvent& event) {
    for (u32 span = op; span != kNone && item_of_[span] == kNone; span = nesting_.parent[span]) {
      item_of_[span] = static_cast<u32>(items_.size());
      items_.push_back({span, {}});
    }
    items_[item_of_[op]].sums.add(event);
  }

  // Calls enter(span, sums) and leave(span) for each, outer ones first, with the sums of all that is inside
  // it.
  template <class Enter, class Leave>
  void walk(Enter enter, Leave leave) {
    std::vector<u32> spans;
    for (const Item& item : items_) spans.push_back(item.span);
    std::ranges::sort(spans);
    for (size_t i = spans.size(); i-- > 0;)
      if (const u32 parent = nesting_.parent[spans[i]]; parent != kNone)
        items_[item_of_[parent]].sums.add(items_[item_of_[spans[i]]].sums);
    std::vector<u32> open;
    for (const u32 span : spans) {
      for (; !open.empty() && open.back() != nesting_.parent[span]; open.pop_back()) leave(open.back());
      enter(span, items_[item_of_[span]].sums);
      open.push_back(span);
    }
    for (; !open.empty(); open.pop_back()) leave(open.back());
  }

 private:
  struct Item {
    u32 span;  // index into Nesting::order
    Sums sums;
  };

  const trace::Nesting& nesting_;
  std::vector<Item> items_;
  std::vector<u32>& item_of_;  // by span, or kNone; as it was when the tree is gone
};

// Number of calls by name, without repeated ones.
std::vector<i64> count_calls(const Trace& trace, const std::vector<u8>& is_op) {
  const trace::Nesting& nesting = trace.nesting();
  const auto name = [&](u32 span) { return trace.name[nesting.order[span]]; };
  std::vector<u32> around(is_op.size(), kNone), call_around(is_op.size(), kNone);
  for (u32 i = 0; i < is_op.size(); ++i) {
    const u32 parent = nesting.parent[i];
    if (parent == kNone) continue;
    around[i] = is_op[parent] ? parent : around[parent];
    if (is_op[i]) call_around[i] = around[i];
  }
  const std::vector<u8> repeats = repeated_calls(call_around, name);
  std::vector<i64> calls(trace.strings().size());
  for (u32 i = 0; i < is_op.size(); ++i) calls[name(i)] += is_op[i] && !repeats[i];
  return calls;
}

// By span of Nesting::order.
std::vector<u8> find_operators(const Trace& trace) {
  const trace::Annotations annotations(trace);
  std::vector<u8> is_op;
  for (const EventId e : trace.nesting().order)
    is_op.push_back(trace.category(e) == Category::cpu_op && !annotations.has(e));
  return is_op;
}

// The operators that allocate or release on the device, those that allocate the most themselves first.
std::vector<Operator> operators_of(const Trace& trace, const MemoryDevice& device,
                                   const std::vector<MemoryPlace>& places, const std::vector<u8>& is_op,
                                   const std::vector<i64>& calls, std::vector<u32>& item_of) {
  const trace::Nesting& nesting = trace.nesting();
  std::unordered_map<StringId, Operator> by_name;
  const auto named = [&](u32 span) -> Operator& { return by_name[trace.name[nesting.order[span]]]; };
  Tree tree(nesting, item_of);
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].op == kNone) continue;
    named(places[i].op).self.add(device.events[i]);
    tree.add(places[i].op, device.events[i]);
  }
  tree.walk(
      [&](u32 span, const Sums& sums) {
        if (!is_op[span]) return;
        Operator& op = named(span);
        if (op.open++ == 0) op.all.add(sums);
      },
      [&](u32 span) {
        if (is_op[span]) --named(span).open;
      });
  std::vector<Operator> list;
  for (auto& [name, op] : by_name) {
    op.name = name;
    op.calls = calls[name];
    list.push_back(op);
  }
  std::ranges::sort(list, [&](const Operator& a, const Operator& b) {
    if (a.self.allocated != b.self.allocated) return a.self.allocated > b.self.allocated;
    return trace.strings()[a.name] < trace.strings()[b.name];
  });
  return list;
}

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  return memory_by_operator_table(trace, placed_memory(trace), params);
}

}  // namespace

Table memory_by_operator_table(const Trace& trace, const PlacedMemory& memory, const ParamValues& params) {
  Table table(kMemoryByOperator.name, std::span(kColumns).subspan(1));
  table.notes = memory.notes;
  const auto& [devices, places, notes] = memory;
  if (devices.empty()) return table;
  const std::vector<u8> is_op = find_operators(trace);
  const std::vector<i64> calls = count_calls(trace, is_op);
  std::vector<u32> item_of(is_op.size(), kNone);
  for (size_t d = 0; d < devices.size(); ++d) {
    const MemoryDevice& device = devices[d];
    std::vector<Operator> operators = operators_of(trace, device, places.of[d], is_op, calls, item_of);
    for (const Operator& op : first_and_others(std::move(operators), params[kTop.name])) {
      const bool is_listed = op.name != kNone;
      const auto with_calls = [&](i64 number) { return is_listed ? Value(number) : Value(); };
      table.append({std::string_view(device.type), device.id, is_listed ? trace.strings()[op.name] : "others",
                    op.calls, op.self.allocated, op.self.increase, op.self.allocations,
                    with_calls(op.all.allocated), with_calls(op.all.increase),
                    with_calls(op.all.allocations)});
    }
  }
  return table;
}

const Analysis kMemoryByOperator = {
    .name = "memory_by_operator",
    .summary =
        "What each operator allocates and releases, itself and with what it calls, per rank and device.",
    .doc =
        "From the [memory] events (see memory_timeline). An event is charged to the innermost operator around it on its thread, start <= time "
        "< end, whatever Python functions and annotations lie between; those outside operators to none. So a release counts where it "
        "happens, not where the memory came from. The numbers with what is below leave out calls inside a call of the same name, so that recursion "
        "counts once; they overlap between names and do not add up. Operators that neither allocate nor release on a device, themselves or "
        "below, have no row there. Sorted by self_allocated_bytes, then name; what is not among the first `top` of a device is put into "
        "a last row named others. The plugin of TensorBoard counts fewer calls where it skips parts of a thread in which nothing is "
        "allocated, and charges nobody where a module lies between the operator and the event.",
    .params = kParams,
    .columns = kColumns,
    .reads = kMemoryPlaceArgs,
    .map = map_trace,
    .map_together = map_placed_memory,
};

}  // namespace spotter::analyze
