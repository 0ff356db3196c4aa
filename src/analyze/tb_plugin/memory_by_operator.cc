#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/tb_plugin/list.h"
#include "analyze/tb_plugin/memory.h"
#include "analyze/top.h"
#include "base/saturated.h"

namespace spotter::analyze::tb_plugin {
namespace {

const Field kColumns[] = {
    kRankField,
    kPlaceFields[0],
    kPlaceFields[1],
    {"operator", Type::text, Unit::none, Role::key, "Operator; others: all that are not listed."},
    {"calls", Type::integer, Unit::count, Role::value,
     "Number of calls, whatever the device, but for those in a call near which nothing is allocated."},
    {"self_allocated_bytes", Type::integer, Unit::bytes, Role::value,
     "Sum of the sizes that the operator itself allocated."},
    {"self_increase_bytes", Type::integer, Unit::bytes, Role::value,
     "Sizes that the operator itself allocated, less those released in it."},
    {"self_allocations", Type::integer, Unit::count, Role::value, "Number of its own allocations."},
    {"allocated_bytes", Type::integer, Unit::bytes, Role::value,
     "Sum of the sizes allocated in its calls and in the operators below, for each call; null for others."},
    {"increase_bytes", Type::integer, Unit::bytes, Role::detail,
     "Sizes allocated less sizes released, in the same; null for others."},
    {"allocations", Type::integer, Unit::count, Role::detail,
     "Number of allocations, in the same; null for others."},
};

constexpr Param kParams[] = {kTop};

struct Sums {
  i64 allocated = 0, increase = 0, allocations = 0;

  void add(i64 bytes) {
    increase = add_saturated(increase, bytes);
    if (bytes <= 0) return;
    allocated = add_saturated(allocated, bytes);
    ++allocations;
  }
  void add(const Sums& o) {
    allocated = add_saturated(allocated, o.allocated);
    increase = add_saturated(increase, o.increase);
    allocations += o.allocations;
  }
  bool is_nothing() const { return allocated == 0 && increase == 0 && allocations == 0; }
};

struct Operator {
  StringId name = kNone;  // kNone: others
  i64 calls = 0;
  Sums self, all;

  void merge(const Operator& o) {
    calls += o.calls;
    self.add(o.self);
  }
};

// Of the operators below a node that no record falls into the plugin counts none (Q13).
std::unordered_map<StringId, i64> count_calls(const Trace& trace, const Tree& tree, const Charges& charges) {
  std::unordered_map<StringId, i64> calls;
  std::vector<u32> open;
  for (const Thread& thread : tree.threads) open.push_back(thread.root);
  while (!open.empty()) {
    const u32 i = open.back();
    const Node& node = tree.nodes[i];
    open.pop_back();
    if (node.is_operator) ++calls[trace.name[node.event]];
    if (charges.was_visited[i]) open.insert(open.end(), node.children.begin(), node.children.end());
  }
  return calls;
}

using Charge = std::pair<u32, i64>;  // a node, and bytes

// Those with anything, by name.
std::vector<Operator> operators_of(const Trace& trace, const Tree& tree, const std::vector<Charge>& charges,
                                   const std::vector<u32>& place_in_order) {
  std::unordered_map<u32, Sums> all;  // by node, and what is around them
  std::unordered_map<StringId, Operator> by_name;
  const auto named = [&](u32 node) -> Operator& { return by_name[trace.name[tree.nodes[node].event]]; };
  for (const auto& [charged, bytes] : charges) {
    for (u32 node = charged; node != kNone && all.try_emplace(node).second;) node = tree.nodes[node].parent;
    all[charged].add(bytes);
    named(charged).self.add(bytes);
  }
  std::vector<u32> nodes;
  for (const auto& [node, sums] : all) nodes.push_back(node);
  std::ranges::sort(nodes, {}, [&](u32 node) { return place_in_order[node]; });  // the inner ones first
  for (const u32 node : nodes) {
    if (const u32 around = tree.nodes[node].parent; around != kNone) all[around].add(all[node]);
    if (tree.nodes[node].is_operator) named(node).all.add(all[node]);
  }
  std::vector<Operator> list;
  for (auto& [name, op] : by_name) {
    op.name = name;
    if (!op.self.is_nothing() || !op.all.is_nothing()) list.push_back(op);
  }
  return list;
}

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kMemoryByOperator.name, std::span(kColumns).subspan(1));
  const Events events = events_of(trace);
  const std::vector<Record> records = records_of(trace, events, table.notes);
  const Tree tree = tree_of(trace, events, launches_of(trace, events));
  const Charges charges = charge(trace, tree, records);
  auto calls = count_calls(trace, tree, charges);
  std::map<MemoryPlace, std::vector<Charge>> by_place;
  for (size_t r = 0; r < records.size(); ++r)
    if (charges.node[r] != kNone) by_place[records[r].place].emplace_back(charges.node[r], records[r].bytes);
  const std::vector<u32> order = tree.in_post_order();
  std::vector<u32> place_in_order(tree.nodes.size());
  for (u32 i = 0; i < order.size(); ++i) place_in_order[order[i]] = i;
  for (const auto& [place, own] : by_place) {
    std::vector<Operator> operators = operators_of(trace, tree, own, place_in_order);
    for (Operator& op : operators) op.calls = calls[op.name];
    std::ranges::sort(operators, [&](const Operator& a, const Operator& b) {
      if (a.self.increase != b.self.increase) return a.self.increase > b.self.increase;
      return trace.strings()[a.name] < trace.strings()[b.name];
    });
    for (const Operator& op : first_and_others(std::move(operators), params[kTop.name])) {
      const bool is_listed = op.name != kNone;
      const auto with_calls = [&](i64 number) { return is_listed ? Value(number) : Value(); };
      table.append({place.type(), place.id, is_listed ? trace.strings()[op.name] : "others", op.calls,
                    op.self.allocated, op.self.increase, op.self.allocations, with_calls(op.all.allocated),
                    with_calls(op.all.increase), with_calls(op.all.allocations)});
    }
  }
  return table;
}

}  // namespace

const Analysis kMemoryByOperator = {
    .name = "memory_by_operator",
    .summary = "What each operator allocates and releases, as the TensorBoard plugin has it.",
    .doc =
        "The memory view of torch-tb-profiler 0.4.3, with its mistakes (docs/tb_plugin.md has the Q-numbers). A memory event is charged to the innermost node of the plugin's tree around it, start <= time < end, if that is an operator, else to nobody. "
        "The numbers with what is below are added up for each call, so that what an operator allocates inside a call of its like counts twice. Operators below one near which nothing is allocated are no calls (Q13). Sorted by self_increase_bytes, then name; "
        "what is not among the first `top` of a device is a last row, others, which the plugin does not have.",
    .params = kParams,
    .columns = kColumns,
    .reads = kEventArgs | kMemoryArgs,
    .map = map_trace,
};

}  // namespace spotter::analyze::tb_plugin
