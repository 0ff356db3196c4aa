#include <algorithm>
#include <tuple>

#include "analyze/group_ids.h"
#include "analyze/grouping_params.h"
#include "analyze/list_text.h"
#include "analyze/tb_plugin/list.h"
#include "analyze/tb_plugin/tensor_cores.h"
#include "analyze/tb_plugin/tree.h"
#include "analyze/top.h"
#include "base/time.h"

namespace spotter::analyze::tb_plugin {
namespace {

const Field kColumns[] = {
    kRankField,
    {"name", Type::text, Unit::none, Role::key, "Kernel; others: all that are not listed."},
    {"calls", Type::integer, Unit::count, Role::value, "Number of runs."},
    {"sum_ns", Type::integer, Unit::ns, Role::value, "Sum of their durations."},
    {"mean_ns", Type::real, Unit::ns, Role::value, "Mean duration."},
    {"tensor_cores", Type::text, Unit::none, Role::value,
     "Whether its name is one of those on tensor cores in 2020: yes or no; null for others."},
    {"operator", Type::text, Unit::none, Role::value,
     "What has the launch's External id, CallTreeRoot where the id is 0 or the launch is not there; null without "
     "--by-launch 1, and for others."},
    {"blocks_per_sm", Type::real, Unit::none, Role::value,
     "Mean of its blocks per multiprocessor, by time; null where no kernel of the trace has any."},
    {"occupancy_ratio", Type::real, Unit::ratio, Role::value,
     "Mean of its estimated achieved occupancy, by time; null where no kernel of the trace says it."},
    {"min_ns", Type::integer, Unit::ns, Role::detail, "Shortest run."},
    {"max_ns", Type::integer, Unit::ns, Role::detail, "Longest run."},
    {"grid", Type::text, Unit::none, Role::detail,
     "Blocks in each dimension; null where not told, without --by-launch 1, and for others."},
    {"block", Type::text, Unit::none, Role::detail, "Threads of a block in each dimension; null as grid."},
    {"registers", Type::integer, Unit::count, Role::detail,
     "Registers of a thread, 0 where not told; null without --by-launch 1, and for others."},
    {"shared_memory_bytes", Type::integer, Unit::bytes, Role::detail,
     "Shared memory of a block, static and dynamic; 0 and null as registers."},
    {"may_use_tensor_cores", Type::flag, Unit::none, Role::detail,
     "Whether the operator can compute on tensor cores, by its name; null as registers."},
};

constexpr Param kParams[] = {kByLaunch, kTop};

// By time; a run that does not say the number counts as 0.
struct Weighted {
  double sum = 0;
  void add(const std::optional<double>& x, Us time) { sum += x.value_or(0) * time; }
  Value mean(Us time, double unit, bool has_any) const {
    if (!has_any) return {};
    return Value(time > 0 ? sum / time / unit : 0.0);
  }
};

struct Group {
  EventId first = kNone;  // kNone: others
  u32 node = kNone;       // that launched it, of Tree::nodes
  i64 calls = 0;
  Us sum = 0, least = std::numeric_limits<Us>::infinity(), most = 0;
  Weighted blocks, occupancy;

  void merge(const Group& o) {
    calls += o.calls;
    sum += o.sum;
    least = std::min(least, o.least);
    most = std::max(most, o.most);
    blocks.sum += o.blocks.sum;
    occupancy.sum += o.occupancy.sum;
  }
};

class Grouping {
 public:
  explicit Grouping(const Trace& trace) : trace_(trace) {}

  // All kernels.
  std::vector<Group> by_name(const Events& events) {
    for (const Event& event : events.all)
      if (event.type == EventType::kernel) add(event, kNone, {trace_.name[event.id], 0, 0, 0, 0, 0});
    return std::move(groups_);
  }

  // Those that something in the tree launched; what two threads' roots launched counts twice (Q6).
  std::vector<Group> by_launch(const Events& events, const Launches& launches, const Tree& tree) {
    for (const u32 i : tree.in_post_order()) {
      const Node& node = tree.nodes[i];
      for (const u32 launch : node.launches)
        for (const u32 work : launches.all[launch].work)
          if (events.all[work].type == EventType::kernel)
            add(events.all[work], i, key_of(events.all[work], node));
    }
    return std::move(groups_);
  }

 private:
  GroupIds<6>::Key key_of(const Event& kernel, const Node& node) const {
    const u64 op = node.event == kNone ? u64{kNone} : u64{trace_.name[node.event]};
    const auto text = [&](Arg arg) -> u64 { return trace_.text_id(kernel.id, arg).value_or(0); };
    const auto number = [&](Arg arg) { return static_cast<u64>(trace_.integer(kernel.id, arg).value_or(0)); };
    return {
        trace_.name[kernel.id],    op, text(Arg::grid), text(Arg::block), number(Arg::registers_per_thread),
        number(Arg::shared_memory)};
  }

  void add(const Event& kernel, u32 node, const GroupIds<6>::Key& key) {
    const u32 id = ids_.id(key);
    if (id == groups_.size()) {
      Group& group = groups_.emplace_back();
      group.first = kernel.id;
      group.node = node;
    }
    Group& group = groups_[id];
    const Us time = kernel.time.length();
    ++group.calls;
    group.sum += time;
    group.least = std::min(group.least, time);
    group.most = std::max(group.most, time);
    group.blocks.add(trace_.real(kernel.id, Arg::blocks_per_sm), time);
    group.occupancy.add(trace_.real(kernel.id, Arg::occupancy), time);
  }

  const Trace& trace_;
  std::vector<Group> groups_;
  GroupIds<6> ids_;
};

// Whether any kernel says them, or none has a column.
struct Says {
  bool blocks = false, occupancy = false;
};

Says says(const Trace& trace, const Events& events) {
  Says any;
  for (const Event& event : events.all) {
    if (event.type != EventType::kernel) continue;
    any.blocks |= trace.real(event.id, Arg::blocks_per_sm).value_or(0) > 0;
    any.occupancy |= trace.real(event.id, Arg::occupancy).value_or(-1) >= 0;
  }
  return any;
}

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kKernelGroups.name, std::span(kColumns).subspan(1));
  const bool by_launch = params[kByLaunch.name] != 0;
  const Events events = events_of(trace);
  const Launches launches = launches_of(trace, events);
  const Tree tree = by_launch ? tree_of(trace, events, launches) : Tree();
  note_aborted(tree, table.notes);
  Grouping grouping(trace);
  std::vector<Group> groups =
      by_launch ? grouping.by_launch(events, launches, tree) : grouping.by_name(events);
  std::ranges::sort(groups, {}, [&](const Group& g) {
    return std::tuple(-g.sum, -g.calls, trace.name_of(g.first), g.first);
  });
  const Says any = says(trace, events);
  constexpr double kPercent = 100;
  for (const Group& g : first_and_others(std::move(groups), params[kTop.name])) {
    const bool is_listed = g.first != kNone, has_launch = is_listed && by_launch;
    const auto list = [&](Arg arg) {
      return has_launch ? list_text(trace.text(g.first, arg).value_or(std::string_view())) : "";
    };
    const auto number = [&](Arg arg) {
      return has_launch ? Value(trace.integer(g.first, arg).value_or(0)) : Value();
    };
    const std::string grid = list(Arg::grid), block = list(Arg::block);
    const Us mean = g.sum / static_cast<double>(g.calls);
    const std::string_view cores = is_tensor_kernel(is_listed ? trace.name_of(g.first) : "") ? "yes" : "no";
    table.append({is_listed ? trace.name_of(g.first) : "others", g.calls, ns_of(g.sum), mean * kMicrosecond,
                  is_listed ? Value(cores) : Value(),
                  has_launch ? Value(name_of(trace, tree.nodes[g.node])) : Value(),
                  g.blocks.mean(g.sum, 1, any.blocks), g.occupancy.mean(g.sum, kPercent, any.occupancy),
                  ns_of(g.least), ns_of(g.most), or_null(std::string_view(grid)),
                  or_null(std::string_view(block)), number(Arg::registers_per_thread),
                  number(Arg::shared_memory), has_launch ? Value(tree.nodes[g.node].is_listed) : Value()});
  }
  return table;
}

}  // namespace

const Analysis kKernelGroups = {
    .name = "kernel_groups",
    .summary = "Kernels by name, or by who launched them and how, as the TensorBoard plugin has them.",
    .doc =
        "The kernel view of torch-tb-profiler 0.4.3, with its mistakes (docs/tb_plugin.md has the Q-numbers). Kernels, those of communication included, copies and sets not, are added up by their full names, or with --by-launch 1 by name, "
        "what launched them, grid, block, registers of a thread and shared memory of a block. What launched them is told by External ids alone, as in operator_groups, and may be a step or a module; kernels whose launch has the id of nothing "
        "are left out, those whose launch is not there (as is that of the driver, Q1) are CallTreeRoot's, once for each thread or stream with marks of steps (Q6). tensor_cores: whether one of 18 parts of names of 2020 is in the kernel's name, else no. "
        "blocks_per_sm and occupancy_ratio are means by the runs' durations; those that do not say the number count as 0. Sorted by sum, count, name; what is not among the first `top` is a last row, others, which the plugin does not have.",
    .params = kParams,
    .columns = kColumns,
    .reads = kEventArgs | ArgSet{Arg::grid, Arg::block, Arg::registers_per_thread, Arg::shared_memory,
                                 Arg::blocks_per_sm, Arg::occupancy},
    .map = map_trace,
};

}  // namespace spotter::analyze::tb_plugin
