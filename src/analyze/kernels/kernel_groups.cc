#include <algorithm>
#include <limits>

#include "analyze/group_ids.h"
#include "analyze/grouping_params.h"
#include "analyze/kernels/kernel_stats.h"
#include "analyze/launches/launching_operators.h"
#include "analyze/list.h"
#include "analyze/list_text.h"
#include "analyze/time/device_time.h"
#include "analyze/top.h"
#include "trace/facts/tensor_cores.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"name", Type::text, Unit::none, Role::key, "Kernel; others: all that are not listed."},
    {"calls", Type::integer, Unit::count, Role::value, "Number of runs."},
    {"sum_ns", Type::integer, Unit::ns, Role::value, "Sum of their durations."},
    {"mean_ns", Type::real, Unit::ns, Role::value, "Mean duration."},
    {"tensor_cores", Type::text, Unit::none, Role::value,
     "Whether it computes on tensor cores, by its name: yes, no or unknown; null for others."},
    {"operator", Type::text, Unit::none, Role::value,
     "What launched it; null where no operator did, without --by-launch 1, and for others."},
    {"blocks_per_sm", Type::real, Unit::none, Role::value,
     "Mean of its blocks per multiprocessor, by time; null where no run says it (only CUDA's do)."},
    {"occupancy_ratio", Type::real, Unit::ratio, Role::value,
     "Mean of its estimated achieved occupancy, by time; null where no run says it."},
    {"min_ns", Type::integer, Unit::ns, Role::detail, "Shortest run."},
    {"max_ns", Type::integer, Unit::ns, Role::detail, "Longest run."},
    {"grid", Type::text, Unit::none, Role::detail,
     "Blocks in each dimension; null where not told, without --by-launch 1, and for others."},
    {"block", Type::text, Unit::none, Role::detail, "Threads of a block in each dimension; null as grid."},
    {"registers", Type::integer, Unit::count, Role::detail, "Registers of a thread; null as grid."},
    {"shared_memory_bytes", Type::integer, Unit::bytes, Role::detail,
     "Shared memory of a block, static and dynamic; null as grid."},
};

constexpr Param kParams[] = {kByLaunch, kTop};

constexpr double kPercent = 100;

// Mean of what some kernels say, by their time.
struct Weighted {
  double sum = 0, weight = 0;
  void add(const std::optional<double>& x, Ns dur, double most = std::numeric_limits<double>::max()) {
    if (!x || *x < 0 || *x > most) return;
    sum += *x * static_cast<double>(dur);
    weight += static_cast<double>(dur);
  }
  void merge(const Weighted& o) {
    sum += o.sum;
    weight += o.weight;
  }
  Value mean(double unit) const { return weight > 0 ? Value(sum / weight / unit) : Value(); }
};

struct Group {
  u32 row = kNone;  // the first of DeviceWork; kNone: others
  Durations durations;
  Weighted blocks, occupancy;
  void merge(const Group& o) {
    durations.merge(o.durations);
    blocks.merge(o.blocks);
    occupancy.merge(o.occupancy);
  }
};

class Grouping {
 public:
  Grouping(const Trace& trace, bool by_launch)
      : trace_(trace), work_(trace.device_work()), by_launch_(by_launch) {
    if (by_launch) around_ = calling_operators(trace);
  }

  std::string_view operator_of(u32 row) const {
    const EventId launch = by_launch_ ? work_.launch[row] : kNone;
    const EventId op = launch == kNone ? kNone : around_[launch];
    return op == kNone ? "" : trace_.name_of(op);
  }
  std::string_view text(u32 row, Arg arg) const {
    return by_launch_ ? trace_.text(work_.event[row], arg).value_or(std::string_view()) : "";
  }
  std::optional<i64> integer(u32 row, Arg arg) const {
    return by_launch_ ? trace_.integer(work_.event[row], arg) : std::nullopt;
  }

  std::vector<Group> groups() {
    std::vector<Group> groups;
    for (u32 row = 0; row < work_.event.size(); ++row) {
      if (work_.kind[row] == trace::WorkKind::memory) continue;
      const u32 id = id_of(row);
      if (id == groups.size()) groups.emplace_back().row = row;
      const Ns dur = work_.end[row] - work_.start[row];
      groups[id].durations.add(dur);
      groups[id].blocks.add(trace_.real(work_.event[row], Arg::blocks_per_sm), dur);
      groups[id].occupancy.add(trace_.real(work_.event[row], Arg::occupancy), dur, kPercent);
    }
    return groups;
  }

 private:
  u32 id_of(u32 row) {
    const auto id = [&](std::string_view text) -> u64 {
      return text.empty() ? 0 : trace_.strings().find(text);
    };
    const auto number = [&](Arg arg) { return static_cast<u64>(integer(row, arg).value_or(-1)); };
    return ids_.id({trace_.name[work_.event[row]], id(operator_of(row)), id(text(row, Arg::grid)),
                    id(text(row, Arg::block)), number(Arg::registers_per_thread),
                    number(Arg::shared_memory)});
  }

  const Trace& trace_;
  const trace::DeviceWork& work_;
  bool by_launch_;
  std::vector<EventId> around_;
  GroupIds<6> ids_;
};

Result<Table> map_trace(const Trace& trace, const ParamValues& params) {
  Table table(kKernelGroups.name, std::span(kColumns).subspan(1));
  const trace::DeviceWork& work = trace.device_work();
  if (work.event.empty()) note_no_device_work(table);
  Grouping grouping(trace, params[kByLaunch.name] != 0);
  std::vector<Group> groups = grouping.groups();
  const auto cost = [&](const Group& g) {
    return std::tuple(-g.durations.sum, -g.durations.count, trace.name_of(work.event[g.row]), g.row);
  };
  std::ranges::sort(groups, {}, cost);
  const std::vector<trace::TensorCores> tensor_cores = trace::tensor_cores_by_row(trace);
  const auto append = [&](const Group& g) {
    const Durations& d = g.durations;
    const bool is_listed = g.row != kNone;
    const std::string_view name = is_listed ? trace.name_of(work.event[g.row]) : "others";
    const std::string grid = is_listed ? list_text(grouping.text(g.row, Arg::grid)) : "";
    const std::string block = is_listed ? list_text(grouping.text(g.row, Arg::block)) : "";
    const auto number = [&](Arg arg) { return is_listed ? or_null(grouping.integer(g.row, arg)) : Value(); };
    table.append({name, d.count, d.sum, d.mean(),
                  is_listed ? Value(trace::tensor_cores_name(tensor_cores[g.row])) : Value(),
                  is_listed ? or_null(grouping.operator_of(g.row)) : Value(), g.blocks.mean(1),
                  g.occupancy.mean(kPercent), d.min, d.max, or_null(std::string_view(grid)),
                  or_null(std::string_view(block)), number(Arg::registers_per_thread),
                  number(Arg::shared_memory)});
  };
  for (const Group& group : first_and_others(std::move(groups), params[kTop.name])) append(group);
  return table;
}

}  // namespace

const Analysis kKernelGroups = {
    .name = "kernel_groups",
    .summary =
        "Kernels by name, or by who launched them and how: tensor cores, blocks per multiprocessor, occupancy.",
    .doc =
        "Kernels, those of communication included, copies and sets not, are added up by their full names, or with --by-launch 1 by name, launching operator, "
        "grid, block, registers of a thread and shared memory of a block. The operator is that of the External id where it is around the launch, else the innermost one around "
        "it. tensor_cores: whether kernels of this name compute on matrix units (Tensor Cores, MFMA), by a list of names and instruction shapes from Volta to Blackwell and CDNA; a name that the list does not know is unknown. "
        "blocks_per_sm and occupancy_ratio are the means of what the profiler says of each run (blocks per SM; est. achieved occupancy, an estimate from the launch), weighted by the runs' durations, of those that say "
        "it. Sorted by sum, count, name; what is not among the first `top` is a last row, others. After the kernel view of the TensorBoard profiler plugin (torch-tb-profiler 0.4.3), "
        "which counts runs that do not say a number as 0, and knows tensor cores by names of 2020.",
    .params = kParams,
    .columns = kColumns,
    .reads =
        trace::kDeviceWorkArgs | ArgSet{Arg::external_id, Arg::grid, Arg::block, Arg::registers_per_thread,
                                        Arg::shared_memory, Arg::blocks_per_sm, Arg::occupancy},
    .map = map_trace,
    .on_request = true,
};

}  // namespace spotter::analyze
