#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "analyze/communication/matching.h"
#include "analyze/list.h"
#include "analyze/steps/step_windows.h"
#include "analyze/time/intervals.h"
#include "base/saturated.h"
#include "trace/device_work.h"
#include "trace/facts/collective_marks.h"
#include "trace/facts/data_loading.h"
#include "trace/nesting.h"
#include "trace/steps.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    kStepNumberField,
    kWindowStartField,
    {"dur_ns", Type::integer, Unit::ns, Role::value,
     "Length of the window; compute_ns, overlap_ns, exposed_ns and other_ns add up to it."},
    {"compute_ns", Type::integer, Unit::ns, Role::value,
     "Something computes and nothing communicates; without device work: the host is inside an operator."},
    {"overlap_ns", Type::integer, Unit::ns, Role::value,
     "Something computes and something communicates; null where the kernels of communication were not recorded."},
    {"exposed_ns", Type::integer, Unit::ns, Role::value,
     "Something communicates and nothing computes; null as overlap_ns."},
    {"other_ns", Type::integer, Unit::ns, Role::value, "Neither."},
    {"transfer_ns", Type::integer, Unit::ns, Role::value,
     "Time in which a collective transfers: all its ranks have come. Null where the step's collectives have no other rank here, and as overlap_ns."},
    {"wait_ns", Type::integer, Unit::ns, Role::value,
     "Time in which collectives wait for a rank, and none transfers; null as transfer_ns."},
};

// One rank's part: a row per step, and a row per run of a collective.
const Field kPartColumns[] = {
    {"is_step", Type::flag, Unit::none, Role::key, "Whether the row is a step, else a run of a collective."},
    {"number", Type::integer, Unit::none, Role::key, "Number of the step; of a run 0."},
    {"start_ns", Type::integer, Unit::ns, Role::time, "Start, Unix time."},
    {"dur_ns", Type::integer, Unit::ns, Role::value, "Duration."},
    {"compute_ns", Type::integer, Unit::ns, Role::value, "Of a step: in which only something computes."},
    {"overlap_ns", Type::integer, Unit::ns, Role::value, "Of a step: in which both; -1: not known."},
    {"exposed_ns", Type::integer, Unit::ns, Role::value,
     "Of a step: in which only something communicates; -1: not known."},
    {"group", Type::text, Unit::none, Role::key,
     "Of a run: name and ranks of the group, else the stream; may be empty."},
    {"name", Type::text, Unit::none, Role::key,
     "Of a run: name of the collective, its annotation or its kernel."},
    {"sequence", Type::integer, Unit::none, Role::key,
     "Of a run: number of the collective in its group, or -1."},
    {"group_size", Type::integer, Unit::count, Role::value, "Of a run: ranks in the group, or 0."},
};
enum Part : u8 {
  kIsStep,
  kNumber,
  kStart,
  kDur,
  kCompute,
  kOverlap,
  kExposed,
  kGroup,
  kName,
  kSequence,
  kGroupSize
};
constexpr Ns kNotKnown = -1;

struct Activity {
  Union compute, communication;
  bool knows_communication = true;
};

enum Kind : u8 { kComputing, kCommunicating, kKinds };

struct Lines {
  LineUnions<kKinds> lines;
  bool communicates = false;  // kernels of communication are among them
  bool launches = false;      // marks of backends whose kernels communicate are among them
};

Lines device_lines(const trace::DeviceWork& work) {
  Lines found;
  for (const trace::Stream& stream : work.streams) {
    found.lines.next_line();
    for (u32 row = stream.begin; row < stream.end; ++row) {
      if (work.kind[row] == trace::WorkKind::memory) continue;
      const bool communicates = work.kind[row] == trace::WorkKind::communication;
      found.communicates |= communicates;
      found.lines.add(communicates ? kCommunicating : kComputing, work.start[row], work.end[row]);
    }
  }
  return found;
}

Lines host_lines(const Trace& trace) {
  using Backend = trace::CollectiveBackend;
  Lines found;
  const trace::Nesting& nesting = trace.nesting();
  for (const trace::Nesting::Thread& thread : nesting.threads) {
    found.lines.next_line();
    for (u32 i = thread.begin; i < thread.end; ++i) {
      const EventId e = nesting.order[i];
      const Category category = trace.category(e);
      if (category != Category::cpu_op && category != Category::user_annotation) continue;
      const std::string_view name = trace.name_of(e);
      const Backend backend = trace::backend_of_mark(name).backend;
      found.launches |= backend == Backend::on_device;
      if (backend == Backend::on_host)
        found.lines.add(kCommunicating, trace.ts[e], trace.end(e));
      else if (backend == Backend::none && !is_step_mark(trace.steps(), name) &&
               !trace::is_data_loading(name))
        found.lines.add(kComputing, trace.ts[e], trace.end(e));
    }
  }
  return found;
}

Activity activity_of(const Trace& trace) {
  Lines device = device_lines(trace.device_work()), host = host_lines(trace);
  std::array<Union, kKinds> on_device = std::move(device.lines).united(),
                            on_host = std::move(host.lines).united();
  const bool has_device_work = !trace.device_work().event.empty();
  return {.compute = std::move((has_device_work ? on_device : on_host)[kComputing]),
          .communication = std::move((device.communicates ? on_device : on_host)[kCommunicating]),
          .knows_communication = device.communicates || !host.launches};
}

void append_steps(const Trace& trace, Table& table) {
  const StepWindows windows = step_windows(trace);
  note_step_windows(trace, windows, table.notes);
  const Activity activity = activity_of(trace);
  if (!activity.knows_communication && !windows.steps.empty())
    table.notes.add("unrecorded_communication", Severity::info,
                    "traces have launches of collectives but none of their kernels, so that the time of "
                    "communication is not known: record the device's activities, too");
  const std::vector<Ns> compute = time_by_step(windows.steps, activity.compute),
                        communication = time_by_step(windows.steps, activity.communication),
                        both = time_by_step(windows.steps,
                                            intersection(activity.compute, activity.communication));
  for (size_t s = 0; s < windows.steps.size(); ++s) {
    const StepWindow& step = windows.steps[s];
    const Ns start = trace.info().base_ns + step.start, dur = step.end - step.start;
    if (activity.knows_communication)
      table.append({true, step.number, start, dur, compute[s] - both[s], both[s], communication[s] - both[s],
                    "", "", kNoSequence, i64{0}});
    else
      table.append(
          {true, step.number, start, dur, compute[s], kNotKnown, kNotKnown, "", "", kNoSequence, i64{0}});
  }
}

void append_runs(const Trace& trace, Table& table) {
  const CollectiveCalls found = collective_calls(trace);
  for (const CollectiveCall& call : found.calls)
    if (call.is_timed)
      table.append({false, i64{0}, trace.info().base_ns + call.start, call.end - call.start, i64{0}, i64{0},
                    i64{0}, call.group, call.name, call.sequence, call.group_size});
  note_unclear(found, table.notes);
}

Result<Table> map_trace(const Trace& trace, const ParamValues&) {
  Table table(kCommSteps.name, kPartColumns);
  append_steps(trace, table);
  append_runs(trace, table);
  return table;
}

bool is_step(const Table& part, size_t row) { return std::get<bool>(part.at(row, kIsStep)); }
bool is_run(const Table& part, size_t row) { return !is_step(part, row); }

// A rank's runs. `met` are those in collectives of which the last rank is known.
struct RankRuns {
  std::vector<Interval> met, transfers, unmet;
};

std::vector<RankRuns> meet(std::span<const RankTable> tables, Notes& notes) {
  std::vector<Run> runs = runs_of(tables, notes, is_run);
  match(runs);
  std::vector<RankRuns> ranks(tables.size());
  const std::vector<std::span<const Run>> collectives = collectives_of(runs);
  Presences presences;
  for (const std::span<const Run> collective : collectives) {
    const Run& first = collective.front();
    const i64 group_size = tables[first.part].table.integer(first.row, kGroupSize);
    const Presence presence = presence_of(collective, group_size);
    presences.add(presence);
    const bool is_met = can_tell_last(presence);
    for (const Run& run : collective) {
      RankRuns& rank = ranks[run.part];
      (is_met ? rank.met : rank.unmet).push_back({run.start, run.end});
      if (is_met) rank.transfers.push_back({transfer_start(run, collective.back().start), run.end});
    }
  }
  presences.note(runs, notes);
  note_apart(collectives, "stragglers", notes);
  return ranks;
}

Union union_of(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::start);
  Union united;
  for (const Interval& i : intervals) extend(united, i.start, i.end);
  return united;
}

// The steps of a rank's table, and their rows.
struct Steps {
  std::vector<StepWindow> windows;
  std::vector<size_t> rows;
};

Steps steps_of(const Table& part) {
  Steps steps;
  for (size_t row = 0; row < part.rows(); ++row) {
    if (!is_step(part, row)) continue;
    const Ns start = part.integer(row, kStart);
    steps.windows.push_back(
        {part.integer(row, kNumber), start, add_saturated(start, part.integer(row, kDur))});
    steps.rows.push_back(row);
  }
  return steps;
}

void append(Table& answer, const RankTable& rank, const RankRuns& runs) {
  const Table& part = rank.table;
  const Steps steps = steps_of(part);
  const std::vector<Ns> met = time_by_step(steps.windows, union_of(runs.met)),
                        transfer = time_by_step(steps.windows, union_of(runs.transfers)),
                        unmet = time_by_step(steps.windows, union_of(runs.unmet));
  for (size_t s = 0; s < steps.rows.size(); ++s) {
    const size_t row = steps.rows[s];
    const Ns dur = part.integer(row, kDur), compute = part.integer(row, kCompute),
             overlap = part.integer(row, kOverlap), exposed = part.integer(row, kExposed);
    const bool is_known = overlap >= 0 && exposed >= 0,
               is_met = is_known && rank.rank && (met[s] > 0 || unmet[s] == 0);
    const auto of_communication = [&](Ns time, bool known) { return known ? Value(time) : Value(); };
    Ns other = subtract_saturated(dur, compute);
    if (is_known) other = subtract_saturated(subtract_saturated(other, overlap), exposed);
    answer.append({or_null(rank.rank), part.integer(row, kNumber), part.integer(row, kStart), dur, compute,
                   of_communication(overlap, is_known), of_communication(exposed, is_known), other,
                   of_communication(transfer[s], is_met),
                   of_communication(subtract_saturated(met[s], transfer[s]), is_met)});
  }
}

Result<Table> reduce(std::span<const RankTable> tables, const ParamValues&) {
  Table answer(kCommSteps.name, kColumns);
  const std::vector<RankRuns> ranks = meet(tables, answer.notes);
  for (size_t part = 0; part < tables.size(); ++part) append(answer, tables[part], ranks[part]);
  return answer;
}

}  // namespace

const Analysis kCommSteps = {
    .name = "comm_steps",
    .summary =
        "How much of each step is communication that nothing hides, and what of it is waiting for other ranks.",
    .doc =
        "Each moment of a step, whose window is that of step_breakdown, is one of four: a kernel computes and no kernel of communication runs, "
        "on any stream; both run (overlap); only communication runs (exposed); neither does (other: copies and sets, and nothing at all). "
        "They add up to dur_ns exactly. A trace without device work computes where the host is inside an operator or "
        "annotation other than those of communication, data loading and the step itself. A trace "
        "without kernels of communication communicates where the host is inside spans of backends that work there (gloo:..., "
        "mpi:...); spans of nccl:... last as long as the launch and are no communication. transfer and wait "
        "are of the collectives, as in collectives: from the start of the last of its ranks on to its own end each transfers, before it waits. A moment "
        "counts once: as transfer if any collective of the rank transfers. Sends and receives, and collectives that no other rank of "
        "the files has, are in neither. Where the clocks of hosts differ, the difference is part of every wait. A rank without steps and operators has no rows. After the distributed view of the "
        "TensorBoard profiler plugin (torch-tb-profiler 0.4.3), which takes launches for communication and kernels of NCCL since PyTorch "
        "1.12 for computation, matches collectives by their order alone, and takes the shortest rank's time for the transfer of all.",
    .params = {},
    .columns = kColumns,
    .reads = kCollectiveCallArgs | trace::kStepArgs,
    .map = map_trace,
    .reduce = reduce,
    .part_columns = kPartColumns,
};

}  // namespace spotter::analyze
