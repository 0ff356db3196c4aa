#include <algorithm>

#include "analyze/group_ids.h"
#include "analyze/grouping_params.h"
#include "analyze/list.h"
#include "analyze/list_text.h"
#include "analyze/operators/operator_calls.h"
#include "analyze/statistics.h"
#include "analyze/time/device_time.h"
#include "analyze/top.h"
#include "base/saturated.h"
#include "trace/steps.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"name", Type::text, Unit::none, Role::key, "Operator; others: all that are not listed."},
    {"calls", Type::integer, Unit::count, Role::value, "Number of calls, nested ones included."},
    {"device_self_ns", Type::integer, Unit::ns, Role::value,
     "Sum of the durations of the device work that the calls themselves launched."},
    {"host_self_ns", Type::integer, Unit::ns, Role::value,
     "Duration of the calls without the operators and host calls directly below them."},
    {"shapes", Type::text, Unit::none, Role::value,
     "Shapes of the operands; null where they were not recorded, with --by-shapes 0, and for others."},
    {"device_total_ns", Type::integer, Unit::ns, Role::value,
     "device_self_ns of the calls and of all operators below them."},
    {"host_total_ns", Type::integer, Unit::ns, Role::value, "Duration of the calls, each counted."},
    {"may_use_tensor_cores", Type::flag, Unit::none, Role::detail,
     "Whether one of the calls, or an operator below it, can compute on tensor cores; null for others."},
    {"tensor_self_ratio", Type::real, Unit::ratio, Role::detail,
     "Part of device_self_ns that is of kernels on tensor cores; null without device time."},
    {"tensor_total_ratio", Type::real, Unit::ratio, Role::detail, "The same of device_total_ns."},
    {"stack", Type::text, Unit::none, Role::detail,
     "Python frames that called; null where they were not recorded, without --by-stack 1, and for others."},
};

constexpr Param kParams[] = {kByShapes, kByStack, kTop};

struct Group {
  EventId first = kNone;  // of its calls; kNone: others
  i64 calls = 0;
  Ns host_self = 0, host_total = 0, device_self = 0, device_total = 0, tensor_self = 0, tensor_total = 0;
  bool may_use_tensor_cores = false;

  void merge(const Group& o) {
    calls += o.calls;
    host_self = add_saturated(host_self, o.host_self);
    host_total = add_saturated(host_total, o.host_total);
    device_self = add_saturated(device_self, o.device_self);
    device_total = add_saturated(device_total, o.device_total);
    tensor_self = add_saturated(tensor_self, o.tensor_self);
    tensor_total = add_saturated(tensor_total, o.tensor_total);
    may_use_tensor_cores |= o.may_use_tensor_cores;
  }
};

class Grouping {
 public:
  Grouping(const Trace& trace, bool by_shapes, bool by_stack)
      : trace_(trace), by_shapes_(by_shapes), by_stack_(by_stack) {}

  std::string_view shapes(EventId e) const { return by_shapes_ ? text(e, Arg::input_dims) : ""; }
  std::string_view stack(EventId e) const { return by_stack_ ? text(e, Arg::call_stack) : ""; }

  std::vector<Group> groups(const std::vector<OperatorCall>& calls) {
    std::vector<Group> groups;
    for (const OperatorCall& call : calls) {
      if (!call.is_operator) continue;
      const u32 id = ids_.id({trace_.name[call.event], id_of(shapes(call.event)), id_of(stack(call.event))});
      if (id == groups.size()) groups.emplace_back().first = call.event;
      groups[id].merge({kNone, 1, std::max<Ns>(0, call.host_self), trace_.dur[call.event], call.device_self,
                        call.device_total, call.tensor_self, call.tensor_total, call.may_use_tensor_cores});
    }
    return groups;
  }

 private:
  std::string_view text(EventId e, Arg arg) const { return trace_.text(e, arg).value_or(std::string_view()); }
  u64 id_of(std::string_view text) const { return text.empty() ? 0 : trace_.strings().find(text); }

  const Trace& trace_;
  bool by_shapes_, by_stack_;
  GroupIds<3> ids_;
};

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kOperatorGroups.name, std::span(kColumns).subspan(1));
  const OperatorCalls found = operator_calls(trace);
  Grouping grouping(trace, params[kByShapes.name] != 0, params[kByStack.name] != 0);
  std::vector<Group> groups = grouping.groups(found.calls);
  if (groups.empty()) {
    table.notes.add("no_operators", Severity::info, "traces without operators have no rows here");
    return table;
  }
  note_launches_outside_operators(found.launches_outside, table);
  note_links(trace, table);
  const auto cost = [&](const Group& g) {
    return std::tuple(-g.device_self, -g.host_self, trace.name_of(g.first), grouping.shapes(g.first),
                      grouping.stack(g.first));
  };
  std::ranges::sort(groups, {}, cost);
  const auto append = [&](const Group& g) {
    const bool is_listed = g.first != kNone;
    const std::string shapes = is_listed ? list_text(grouping.shapes(g.first)) : "";
    table.append({is_listed ? trace.name_of(g.first) : "others", g.calls, g.device_self, g.host_self,
                  or_null(std::string_view(shapes)), g.device_total, g.host_total,
                  is_listed ? Value(g.may_use_tensor_cores) : Value(), ratio(g.tensor_self, g.device_self),
                  ratio(g.tensor_total, g.device_total),
                  is_listed ? or_null(grouping.stack(g.first)) : Value()});
  };
  for (const Group& group : first_and_others(std::move(groups), params[kTop.name])) append(group);
  return table;
}

}  // namespace

const Analysis kOperatorGroups = {
    .name = "operator_groups",
    .summary =
        "Operators by name, by the shapes of their operands or by who calls them, with host and device time and tensor cores.",
    .doc =
        "Calls of operators (host spans of category cpu_op, but not PyTorch's marks of data loading, optimizers, steps and of DataParallel and its like) are added up by name, "
        "by the shapes of their operands where those are recorded (record_shapes=True), and with --by-stack 1 by the Python frames around them (with_stack=True, where the release writes them into the operators). "
        "An operator whose only inner call is of the same operator counts once, with the outer duration. host_total is the sum of the "
        "durations, host_self without the operators and the calls into the device's runtime or driver directly below; device_self sums the durations of the kernels, copies and sets that the calls launched "
        "themselves (who launched is told by the External id where that operator is around the launch, else by the innermost operator around it), "
        "so that work on several streams adds up; device_total adds the operators below. Totals of nested calls overlap and do not add up. An operator may use tensor cores "
        "if its name is one of a list of products of matrices, convolutions and attentions, if it launched a kernel on tensor cores, or if an operator below it may. Kernels on "
        "tensor cores are told by name. Sorted by device_self, host_self, name; what is not among the first `top` is a last row, others. After the "
        "operator view of the TensorBoard profiler plugin (torch-tb-profiler 0.4.3).",
    .params = kParams,
    .columns = kColumns,
    .reads = trace::kDeviceWorkArgs | trace::kStepArgs |
             ArgSet{Arg::external_id, Arg::input_dims, Arg::call_stack},
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
