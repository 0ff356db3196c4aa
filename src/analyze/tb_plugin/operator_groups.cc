#include <algorithm>
#include <tuple>

#include "analyze/group_ids.h"
#include "analyze/grouping_params.h"
#include "analyze/list_text.h"
#include "analyze/tb_plugin/list.h"
#include "analyze/tb_plugin/tree.h"
#include "analyze/top.h"

namespace spotter::analyze::tb_plugin {
namespace {

const Field kColumns[] = {
    kRankField,
    {"name", Type::text, Unit::none, Role::key, "Operator; others: all that are not listed."},
    {"calls", Type::integer, Unit::count, Role::value, "Number of calls, nested ones included."},
    {"device_self_ns", Type::integer, Unit::ns, Role::value,
     "Sum of the durations of the device work whose launches have the calls' External ids."},
    {"host_self_ns", Type::integer, Unit::ns, Role::value,
     "Duration of the calls without what is directly below them and without the launches that have their ids, "
     "which may run elsewhere: it may be negative."},
    {"shapes", Type::text, Unit::none, Role::value,
     "Shapes of the operands, [] where they were not recorded; null with --by-shapes 0, and for others."},
    {"device_total_ns", Type::integer, Unit::ns, Role::value,
     "device_self_ns of the calls and of all that is below them."},
    {"host_total_ns", Type::integer, Unit::ns, Role::value, "Duration of the calls, each counted."},
    {"may_use_tensor_cores", Type::flag, Unit::none, Role::detail,
     "Whether the first of the calls, or an operator below it, can compute on tensor cores; null for others."},
    {"tensor_self_ratio", Type::real, Unit::ratio, Role::detail,
     "Part of device_self_ns that is of kernels on tensor cores; 0 without device time."},
    {"tensor_total_ratio", Type::real, Unit::ratio, Role::detail, "The same of device_total_ns."},
    {"stack", Type::text, Unit::none, Role::detail,
     "Python frames that called; null where they were not recorded, without --by-stack 1, and for others."},
};

constexpr Param kParams[] = {kByShapes, kByStack, kTop};

struct Group {
  EventId first = kNone;  // of its calls; kNone: others
  bool may_use_tensor_cores = false;
  i64 calls = 0;
  Us host_self = 0, host_total = 0, device_self = 0, device_total = 0, tensor_self = 0, tensor_total = 0;

  void add(const Node& call) {
    ++calls;
    host_self += call.host_self;
    host_total += call.time.length();
    device_self += call.device_self;
    device_total += call.device_total;
    tensor_self += call.tensor_self;
    tensor_total += call.tensor_total;
  }
  void merge(const Group& o) {
    calls += o.calls;
    host_self += o.host_self;
    host_total += o.host_total;
    device_self += o.device_self;
    device_total += o.device_total;
    tensor_self += o.tensor_self;
    tensor_total += o.tensor_total;
  }
};

class Grouping {
 public:
  Grouping(const Trace& trace, bool by_shapes, bool by_stack)
      : trace_(trace), by_shapes_(by_shapes), by_stack_(by_stack) {}

  std::string shapes(EventId e) const {
    if (!by_shapes_) return {};
    const std::string_view dims = text(e, Arg::input_dims);
    return dims.empty() ? "[]" : list_text(dims);
  }
  std::string_view stack(EventId e) const { return by_stack_ ? text(e, Arg::call_stack) : ""; }

  std::vector<Group> groups(const Tree& tree) {
    std::vector<Group> groups;
    for (const u32 i : tree.in_post_order()) {
      const Node& node = tree.nodes[i];
      if (!node.is_operator) continue;
      const u64 shapes = by_shapes_ ? id_of(text(node.event, Arg::input_dims), "[]") : 0;
      const u32 id = ids_.id({trace_.name[node.event], shapes, id_of(stack(node.event), "")});
      if (id == groups.size()) {
        Group& group = groups.emplace_back();
        group.first = node.event;
        group.may_use_tensor_cores = node.is_eligible;
      }
      groups[id].add(node);
    }
    return groups;
  }

 private:
  std::string_view text(EventId e, Arg arg) const { return trace_.text(e, arg).value_or(std::string_view()); }
  // 0: that text, or none.
  u64 id_of(std::string_view text, std::string_view none) const {
    return text.empty() || text == none ? 0 : trace_.strings().find(text);
  }

  const Trace& trace_;
  bool by_shapes_, by_stack_;
  GroupIds<3> ids_;
};

Value share(Us part, Us whole) { return Value(whole == 0 ? 0.0 : part / whole); }

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kOperatorGroups.name, std::span(kColumns).subspan(1));
  const Events events = events_of(trace);
  const Tree tree = tree_of(trace, events, launches_of(trace, events));
  note_aborted(tree, table.notes);
  Grouping grouping(trace, params[kByShapes.name] != 0, params[kByStack.name] != 0);
  std::vector<Group> groups = grouping.groups(tree);
  const auto cost = [&](const Group& g) {
    return std::tuple(-g.device_self, -g.host_self, trace.name_of(g.first), grouping.shapes(g.first));
  };
  std::ranges::sort(groups, {}, cost);
  for (const Group& g : first_and_others(std::move(groups), params[kTop.name])) {
    const bool is_listed = g.first != kNone;
    const std::string shapes = is_listed ? grouping.shapes(g.first) : "";
    table.append({is_listed ? trace.name_of(g.first) : "others", g.calls, ns_of(g.device_self),
                  ns_of(g.host_self), or_null(std::string_view(shapes)), ns_of(g.device_total),
                  ns_of(g.host_total), is_listed ? Value(g.may_use_tensor_cores) : Value(),
                  share(g.tensor_self, g.device_self), share(g.tensor_total, g.device_total),
                  is_listed ? or_null(grouping.stack(g.first)) : Value()});
  }
  return table;
}

}  // namespace

const Analysis kOperatorGroups = {
    .name = "operator_groups",
    .summary = "Operators by name, shapes or call stack, as the TensorBoard plugin has them.",
    .doc =
        "The operator view of torch-tb-profiler 0.4.3, with its mistakes (docs/tb_plugin.md has the Q-numbers). What is inside what is told by the times, as doubles of microseconds; a span that overlaps another one of "
        "its thread in part is dropped (Q10). A call of the runtime belongs to the first operator, step, module, data loader or optimizer with its External id, wherever it is, and those without an id to the first module (Q5); so in the traces of PyTorch 1.12 to 2.1, where the ids are "
        "correlation numbers, device times are 0 or another's (Q21). Calls of the driver are nobody's (Q1). An operator of which the only child is the same again counts once, with the outer duration and the inner launches (Q11). Where the trace tells which operator of the "
        "forward pass each backward one belongs to, those that belong to no module's are lost, and so are recomputed ones of other flows. Lists of names of 2020 tell what is on tensor cores, and the first call whether they may be used. Sorted by device_self, host_self, name; what is not among the first `top` is a last row, others, "
        "which the plugin does not have.",
    .params = kParams,
    .columns = kColumns,
    .reads = kEventArgs | ArgSet{Arg::input_dims, Arg::call_stack},
    .map = map_trace,
};

}  // namespace spotter::analyze::tb_plugin
