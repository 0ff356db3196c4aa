#include <algorithm>
#include <numeric>

#include "analyze/communication/matching.h"
#include "analyze/list.h"
#include "analyze/statistics.h"
#include "base/saturated.h"
#include "base/stable_sort.h"
#include "table/ops.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    {"rank", Type::integer, Unit::none, Role::key, "Rank of the process."},
    {"collectives", Type::integer, Unit::count, Role::value,
     "Number of its collectives that another rank of the files takes part in."},
    {"last_count", Type::integer, Unit::count, Role::detail,
     "How often it was the last to start; of equals the lowest rank."},
    {"last_ratio", Type::real, Unit::ratio, Role::value, "last_count as a share of collectives."},
    {"caused_wait_ns", Type::integer, Unit::ns, Role::value,
     "Sum of the times that the other ranks waited in the collectives in which it was the last."},
    {"own_wait_ns", Type::integer, Unit::ns, Role::value,
     "Sum of the times that it waited itself: from its start to the last start, or to its own end."},
    {"mean_late_ns", Type::real, Unit::ns, Role::detail, "Mean of its start minus the first start."},
    {"median_late_ns", Type::real, Unit::ns, Role::value, "Median of its start minus the first start."},
    {"max_late_ns", Type::integer, Unit::ns, Role::value, "Largest of its start minus the first start."},
};

// One rank's part: a row per collective.
const Field kPartColumns[] = {
    {"group", Type::text, Unit::none, Role::key, "Group of processes, else the stream; may be empty."},
    {"name", Type::text, Unit::none, Role::key, "Name of the collective, its annotation or its kernel."},
    {"sequence", Type::integer, Unit::none, Role::key, "Number of the collective in its group, or -1."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Start, Unix time."},
    {"dur_ns", Type::integer, Unit::ns, Role::value, "Duration."},
    {"group_size", Type::integer, Unit::count, Role::value, "Ranks in the group, or 0."},
};
constexpr size_t kGroupSize = std::size(kPartColumns) - 1;

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kStragglers.name, kPartColumns);
  const CollectiveCalls found = collective_calls(trace);
  for (const CollectiveCall& c : found.calls)
    if (c.is_timed)
      table.append(
          {c.group, c.name, c.sequence, trace.info().base_ns + c.start, c.end - c.start, c.group_size});
  if (table.rows() == 0)
    table.notes.add("no_collectives", Severity::info, "traces without collectives have no row here");
  note_unclear(found, table.notes);
  return table;
}

// A rank's numbers.
struct Waits {
  i64 last_count = 0;
  Ns caused = 0, own = 0;
  std::vector<Ns> late;
};

void add_collective(std::span<const Run> runs, std::vector<Waits>& waits) {
  const Ns first_start = runs.front().start, last_start = runs.back().start;
  const Run& straggler =
      *std::find_if(runs.begin(), runs.end(), [&](const Run& run) { return run.start == last_start; });
  ++waits[straggler.part].last_count;
  for (const Run& run : runs) {
    const Ns wait = transfer_start(run, last_start) - run.start;
    Waits& own = waits[run.part];
    own.own = add_saturated(own.own, wait);
    waits[straggler.part].caused = add_saturated(waits[straggler.part].caused, wait);
    own.late.push_back(run.start - first_start);
  }
}

std::vector<Waits> waits_of(std::span<const Run> runs, std::span<const RankTable> tables, Notes& notes) {
  std::vector<Waits> waits(tables.size());
  const std::vector<std::span<const Run>> collectives = collectives_of(runs);
  Presences presences;
  for (const std::span<const Run> collective : collectives) {
    const Run& first = collective.front();
    const Presence presence =
        presence_of(collective, tables[first.part].table.integer(first.row, kGroupSize));
    presences.add(presence);
    if (can_tell_last(presence) && collective.size() > 1) add_collective(collective, waits);
  }
  presences.note(runs, notes);
  note_apart(collectives, "median_late_ns", notes);
  return waits;
}

Value mean(const std::vector<Ns>& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0,
                                     [](double s, Ns value) { return s + static_cast<double>(value); });
  return sum / static_cast<double>(values.size());
}

Result<Table> reduce(std::span<const RankTable> tables, const ParamValues&) {
  Table answer(kStragglers.name, kColumns);
  std::vector<Run> runs = runs_of(tables, answer.notes);
  const auto is_of_another = [&](const Run& run) { return run.part != runs[0].part; };
  if (std::none_of(runs.begin(), runs.end(), is_of_another)) {
    if (!runs.empty())
      answer.notes.add("one_rank", Severity::info, "stragglers need at least two ranks with collectives");
    return answer;
  }
  match(runs);
  std::vector<Waits> waits = waits_of(runs, tables, answer.notes);

  std::vector<size_t> order(tables.size());
  std::iota(order.begin(), order.end(), size_t{0});
  stable_sort(order, [&](size_t a, size_t b) { return waits[a].caused > waits[b].caused; });
  for (const size_t part : order) {
    Waits& w = waits[part];
    if (w.late.empty()) continue;
    std::sort(w.late.begin(), w.late.end());
    const auto count = static_cast<i64>(w.late.size());
    answer.append({*tables[part].rank, count, w.last_count, ratio(w.last_count, count), w.caused, w.own,
                   mean(w.late), table::quantile(w.late, 0.5), w.late.back()});
  }
  return answer;
}

}  // namespace

const Analysis kStragglers = {
    .name = "stragglers",
    .summary = "Which rank makes the others wait: who starts the collectives late.",
    .doc =
        "Collectives are the communication kernels of a rank or, where it has none, its annotations of "
        "backends that work on the host (gloo:, mpi:). Sends and receives are left out. Runs on two or more ranks are one collective "
        "where process group (name and ranks, else the stream's number), collective name and sequence "
        "number are equal. Without a sequence number (PyTorch before 2.12) runs of one group and name are "
        "one collective where all overlap in time, as none ends before the last has begun; their order "
        "would not do, as files may begin at different collectives. What more ranks match than the group has may be of "
        "several groups, and is left out. The rank that starts last is the "
        "straggler. A rank waits from its start to the last start, at most for its own duration. "
        "caused_wait sums what the others waited where this rank was the last; late is its start minus the "
        "first start. Unix times are compared: where the clocks of hosts differ, the difference is part of "
        "every start, so that all ranks of a host have nearly the same median_late. Sorted by caused_wait, most "
        "first; ranks without a matched collective have no row. HTA (get_potential_stragglers) knows only "
        "names that begin with ncclKernel, sends and receives among them; takes one stream and name, of each "
        "step the last row in the order of its table; compares start times as shares of the mean step; "
        "and says which ranks start late, but not how long the others waited.",
    .params = {},
    .columns = kColumns,
    .reads = kCollectiveCallArgs,
    .map = map_trace,
    .reduce = reduce,
    .part_columns = kPartColumns,
};

}  // namespace spotter::analyze
