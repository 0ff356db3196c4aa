#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "analyze/operators/tree_order.h"
#include "analyze/tb_plugin/list.h"
#include "analyze/tb_plugin/module_tree.h"
#include "analyze/tb_plugin/tree.h"

namespace spotter::analyze::tb_plugin {
namespace {

const Field kColumns[] = {
    kRankField,
    {"path", Type::text, Unit::none, Role::key,
     "The module and those around it, the outermost first, joined by /; one that a call calls twice is there twice."},
    {"calls", Type::integer, Unit::count, Role::value, "Number of its calls, at all places together."},
    {"device_total_ns", Type::integer, Unit::ns, Role::value,
     "Sum of the durations of the device work with the ids of what is in the calls."},
    {"device_self_ns", Type::integer, Unit::ns, Role::value, "Of that, what is in no module inside."},
    {"host_total_ns", Type::integer, Unit::ns, Role::value, "Sum of the durations of the calls."},
    {"host_self_ns", Type::integer, Unit::ns, Role::value,
     "Of that, what is not in what is directly below, and without the launches with its id, which may run elsewhere: "
     "it may be negative."},
    {"operators", Type::integer, Unit::count, Role::detail, "Operators directly below."},
    {"depth", Type::integer, Unit::count, Role::detail, "Number of modules around it."},
    {"module_id", Type::integer, Unit::none, Role::detail,
     "Number of the module among those of its class; of Lightning's 0."},
};

struct Totals {
  i64 calls = 0, operators = 0;
  Us host_total = 0, host_self = 0, device_total = 0, device_self = 0;
};

using Key = std::pair<std::string_view, i64>;

// Over all modules of the tree, but those that the backward pass calls again.
std::map<Key, Totals> totals_of(const Trace& trace, const Tree& tree) {
  std::map<Key, Totals> totals;
  std::vector<u32> open;
  for (const Thread& thread : tree.threads) open.push_back(thread.root);
  while (!open.empty()) {
    const Node& node = tree.nodes[open.back()];
    open.pop_back();
    if (node.node_class == NodeClass::backward) continue;
    open.insert(open.end(), node.children.begin(), node.children.end());
    if (node.node_class != NodeClass::module) continue;
    Totals& own = totals[{module_name(trace, node.event), module_id(trace, node.event)}];
    ++own.calls;
    for (const u32 child : node.children) own.operators += tree.nodes[child].is_operator ? 1 : 0;
    own.host_total += node.time.length();
    own.host_self += node.host_self;
    own.device_total += node.device_total;
    own.device_self += node.device_self;
  }
  return totals;
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kModules.name, std::span(kColumns).subspan(1));
  const Events events = events_of(trace);
  const ShownModules shown = module_tree(trace, events);
  if (shown.all.empty()) return table;
  note_too_deep(shown.too_deep, table);
  const Tree tree = tree_of(trace, events, launches_of(trace, events));
  note_aborted(tree, table.notes);
  std::map<Key, Totals> totals = totals_of(trace, tree);
  std::vector<std::string> paths;
  for (const ShownModule& module : shown.all) {
    paths.push_back(module.parent == kNone ? std::string(module.name)
                                           : fmt::format("{}/{}", paths[module.parent], module.name));
    const Totals& own = totals[{module.name, module.id}];
    table.append({std::string_view(paths.back()), own.calls, ns_of(own.device_total), ns_of(own.device_self),
                  ns_of(own.host_total), ns_of(own.host_self), own.operators, module.depth, module.id});
  }
  return table;
}

}  // namespace

const Analysis kModules = {
    .name = "modules",
    .summary = "The modules of the model as a tree, as the TensorBoard plugin has them.",
    .doc =
        "The module view of torch-tb-profiler 0.4.3, with its mistakes (docs/tb_plugin.md has the Q-numbers). Which modules are inside which is told by the numbers of Python's calls; outermost modules whose calls have the same in them are one, and "
        "others apart. The numbers are of all calls of a module, and stand at each of its places. Times are those of operator_groups' tree: calls of the runtime without an id are the first module's (Q5), of spans that overlap in part one is dropped (Q10), and the backward pass has no module. Of PyTorch Lightning's traces the modules "
        "are its own, one in the other by their names.",
    .params = {},
    .columns = kColumns,
    .reads = kEventArgs | kModuleArgs,
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze::tb_plugin
