#include <map>
#include <utility>
#include <vector>

#include "analyze/tb_plugin/list.h"
#include "analyze/tb_plugin/matched_ranges.h"
#include "analyze/tb_plugin/steps.h"
#include "base/saturated.h"

namespace spotter::analyze::tb_plugin {
namespace {

const Field kColumns[] = {
    kRankField,
    {"number", Type::integer, Unit::none, Role::key, "Number of the step, as its mark says, else 0."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Start of the step's window, Unix time."},
    {"dur_ns", Type::integer, Unit::ns, Role::value,
     "Length of the window; compute_ns, overlap_ns, exposed_ns and other_ns add up to it."},
    {"compute_ns", Type::integer, Unit::ns, Role::value,
     "A kernel without the id of a collective runs, or without such kernels the host is inside an operator, and nothing "
     "communicates."},
    {"overlap_ns", Type::integer, Unit::ns, Role::value, "Both."},
    {"exposed_ns", Type::integer, Unit::ns, Role::value,
     "The host is inside a collective, or a kernel with its id runs, and nothing computes."},
    {"other_ns", Type::integer, Unit::ns, Role::value, "Neither."},
    {"transfer_ns", Type::integer, Unit::ns, Role::value,
     "Time in which a collective of the step transfers, also behind it; null where none is wholly in it."},
    {"wait_ns", Type::integer, Unit::ns, Role::value,
     "Time in which they run and none transfers; null as transfer_ns."},
};

// One rank's part: a row per step, and a row per range of a collective.
const Field kPartColumns[] = {
    {"collective", Type::integer, Unit::none, Role::key, "Which one the range is of; of a step -1."},
    {"step", Type::integer, Unit::none, Role::key, "Which step the range's collective is in; -1: none."},
    {"number", Type::integer, Unit::none, Role::key, "Number of the step; of a range 0."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Start, Unix time."},
    {"dur_ns", Type::integer, Unit::ns, Role::value, "Duration."},
    {"compute_ns", Type::integer, Unit::ns, Role::value, "Of a step: in which anything computes."},
    {"overlap_ns", Type::integer, Unit::ns, Role::value, "Of a step: in which both."},
    {"communication_ns", Type::integer, Unit::ns, Role::value, "Of a step: in which anything communicates."},
};
enum Column : u8 { kCollective, kStep, kNumber, kStart, kDur, kCompute, kOverlap, kCommunicating };

// Of each collective: the step that has all of it. They are looked at in order, and one that begins in a step
// and ends behind it is of none, as are all behind the last step.
std::vector<i64> steps_of_collectives(const Communication& communication,
                                      const std::vector<StepTime>& steps) {
  std::vector<i64> found;
  size_t step = 0;
  for (const Collective& one : communication.all) {
    while (step < steps.size() && one.time.start >= steps[step].time.end &&
           !(one.time.start >= steps[step].time.start && one.time.end <= steps[step].time.end))
      ++step;
    const bool is_inside = step < steps.size() && one.time.start >= steps[step].time.start &&
                           one.time.end <= steps[step].time.end;
    found.push_back(is_inside ? static_cast<i64>(step) : -1);
  }
  return found;
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kCommSteps.name, kPartColumns);
  const Ns base = trace.info().base_ns;
  const Events events = events_of(trace);
  const std::vector<StepTime> steps = steps_of(trace, events, launches_of(trace, events));
  const Communication communication = communication_of(trace, events);
  const auto parts = times_by_part(trace, events, communication);
  const UsIntervals& compute = parts[parts[kKernel].empty() ? kHost : kKernel];
  const UsIntervals both = intersection(compute, parts[kCommunication]);
  for (const StepTime& step : steps)
    table.append({i64{-1}, i64{-1}, step.number, unix_ns(base, step.time.start), ns_of(step.time.length()),
                  ns_of(length_in(step.time, compute)), ns_of(length_in(step.time, both)),
                  ns_of(length_in(step.time, parts[kCommunication]))});
  const std::vector<i64> in_step = steps_of_collectives(communication, steps);
  for_each_range(communication, [&](size_t c, const UsInterval& range) {
    table.append({static_cast<i64>(c), in_step[c], i64{0}, unix_ns(base, range.start), ns_of(range.length()),
                  i64{0}, i64{0}, i64{0}});
  });
  return table;
}

void append_steps(const RankTable& rank, const std::vector<Range>& ranges, Table& answer) {
  const Table& part = rank.table;
  std::map<i64, std::pair<std::vector<Interval>, std::vector<Interval>>> by_step;  // all of it, and transfers
  for (const Range& range : ranges) {
    auto& [times, transfers] = by_step[part.integer(range.row, kStep)];
    times.push_back(range.time);
    transfers.push_back(range.transfer);
  }
  i64 step = 0;
  for (size_t row = 0; row < part.rows(); ++row) {
    if (part.integer(row, kCollective) >= 0) continue;
    auto& [times, transfers] = by_step[step++];
    const bool has_any = !times.empty();
    const Ns dur = part.integer(row, kDur), overlap = part.integer(row, kOverlap),
             compute = subtract_saturated(part.integer(row, kCompute), overlap),
             exposed = subtract_saturated(part.integer(row, kCommunicating), overlap),
             transfer = length_of(std::move(transfers)), all = length_of(std::move(times)),
             busy = add_saturated(add_saturated(compute, overlap), exposed);
    answer.append({or_null(rank.rank), part.integer(row, kNumber), part.integer(row, kStart), dur, compute,
                   overlap, exposed, subtract_saturated(dur, busy), has_any ? Value(transfer) : Value(),
                   has_any ? Value(subtract_saturated(all, transfer)) : Value()});
  }
}

Result<Table> reduce(std::span<const RankTable> tables, const ParamValues&) {
  Table answer(kCommSteps.name, kColumns);
  const std::vector<std::vector<Range>> ranges = match_ranges(tables, answer.notes);
  for (size_t part = 0; part < ranges.size(); ++part) append_steps(tables[part], ranges[part], answer);
  return answer;
}

}  // namespace

const Analysis kCommSteps = {
    .name = "comm_steps",
    .summary = "How much of each step is communication, as the TensorBoard plugin has it.",
    .doc =
        "The distributed view of torch-tb-profiler 0.4.3, with its mistakes (docs/tb_plugin.md has the Q-numbers): its overview of computation and communication, and that of synchronizing and transfer. Steps are those of step_breakdown. Communication is a span with one of the names "
        "nccl: or gloo: and broadcast, reduce, all_reduce, all_gather or reduce_scatter, and kernels with the External id of such a span, so that NCCL's kernels since PyTorch 1.12 are computation (Q9). The i-th collective of a rank is one with the i-th of the others, and so are their spans and kernels; the shortest of them "
        "is all transfer, and all transfer as long at their ends. One collective more on one rank, or one rank without any, and there is no view (Q15). A collective is of the step that has all of it on the host, and counts there whatever of its kernels is behind it.",
    .params = {},
    .columns = kColumns,
    .reads = kEventArgs,
    .map = map_trace,
    .reduce = reduce,
    .part_columns = kPartColumns,
};

}  // namespace spotter::analyze::tb_plugin
