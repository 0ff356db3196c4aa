#include "analyze/list.h"
#include "analyze/replay/job_program.h"
#include "analyze/replay/replay.h"
#include "analyze/replay/skeleton_builder.h"
#include "analyze/replay/skeleton_table.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    kRankField,
    {"number", Type::integer, Unit::none, Role::key,
     "Number of the step, as its mark says, else counted from 0."},
    {"start_ns", Type::integer, Unit::ns, Role::time,
     "Start of the step, Unix time of the job's common clock."},
    {"dur_ns", Type::integer, Unit::ns, Role::value,
     "From it to the next step's start; of the last one to the end of its mark and of all device work before."},
    {"replayed_ns", Type::integer, Unit::ns, Role::value, "What the replay makes of that."},
    {"error_ratio", Type::real, Unit::ratio, Role::value, "replayed_ns minus dur_ns, as a share of dur_ns."},
};

Result<Table> map_skeleton(const Trace& trace, const ParamValues&) {
  return skeleton_table(build_skeleton(trace), kSkeleton.name);
}

// The same rows, for what they reduce to.
Result<Table> map_replay(const Trace& trace, const ParamValues&) {
  return skeleton_table(build_skeleton(trace), kReplay.name);
}

Result<Table> reduce(std::span<const RankTable> tables, const ParamValues&) {
  Table answer(kReplay.name, kColumns);
  const JobProgram job = make_program({tables.begin(), tables.end()});
  const Replayed run = replay(job, Scenario(job));
  answer.notes.merge(replay_notes(job, run));
  for (u32 r = 0; r < job.ranks.size(); ++r) {
    const RankProgram& rank = job.ranks[r];
    for (u32 s = 0; s < rank.steps(); ++s) {
      const bool is_last = s + 1 == rank.steps();
      const Ns dur = rank.step_length(s);
      const Ns replayed = (is_last ? run.finish[r] : run.step_start[rank.first_step + s + 1]) -
                          run.step_start[rank.first_step + s];
      answer.append(
          {or_null(rank.rank), rank.step_numbers[s], rank.at(rank.step_rows[s]), dur, replayed,
           dur > 0 ? Value(static_cast<double>(replayed - dur) / static_cast<double>(dur)) : Value()});
    }
  }
  return answer;
}

}  // namespace

const Analysis kSkeleton = {
    .name = "skeleton",
    .summary = "What a replay of the job needs of each rank: its launches, waits and pauses, in order.",
    .doc =
        "A program of some hundred rows a step, in the order in which the host came to them, whatever its thread. Rows tile the "
        "host's time: each takes host_ns of it, and waiting for the device is in none. run: launches onto one stream without another row between; it ends "
        "at the latest of (the end of its stream before) + gap_ns + device_ns and, for each pair that counts, (its first call) + lead + rest: the upper "
        "hull of all its launches. A launch that comes after its stream was free explains its work's start, else the stream does, and what neither explains "
        "is gap_ns. collective: a kernel of communication, with what tells it on other ranks. wait and await: a stream, or the host, waits for the end of row target: "
        "as synchronisation records say, else as calls and times allow (critical_path). sync: the host has waited; what of the call was before the awaited end is no host "
        "time. pause: the host launches nothing for over 0.2 ms (silence), or at all right behind a sync, or is in a data loader, the device's allocator or a compiler; the cause of a collective is host_thread where a thread of the host makes it (gloo). "
        "step, end: the mark, and when all device work launched before it had ended. work: kernels of one name, grid and block (copies: one size; operators on the host: one shape) in the step before, as pieces and time. last_call and open_span: what had "
        "not ended with the recording; recorded: until when it went. A trace without device work is its main thread's: operators are compute, spans of gloo and mpi the collectives. A call that launches only after it has waited for over 0.2 ms, as where a kernel's code is loaded, is a pause and a launch. Rows whose launch calls took four times the "
        "median and 20 µs longer count the median where 512 launches were outstanding (a full queue), and wait for their copy where they end with it.",
    .params = {},
    .columns = kSkeletonColumns,
    .reads = kSkeletonArgs,
    .map = map_skeleton,
    .on_request = true,
};

const Analysis kReplay = {
    .name = "replay",
    .summary = "How long each step takes when the job is run again by the rules of streams.",
    .doc =
        "The job is run again from its skeletons: each host goes from row to row; work begins when it was launched, when its stream is free and "
        "what the stream waits for is done; a collective begins so on each rank, and ends on all when the last one has come and it has transferred, for as long as it did from its "
        "last rank's start on; a receive follows its send; at most 1,024 launches of a rank are outstanding. Collectives are matched by group and sequence "
        "number, else by step and order (on one host, where that puts together what was not there at one time, by time); clocks of hosts by the ends of collectives, which all ranks see at once, else by sends in both directions. With the "
        "times as they were, replayed_ns is dur_ns but for what the rules do not know; what findings cost is the difference between two such runs. A "
        "trace without steps is one step.",
    .params = {},
    .columns = kColumns,
    .reads = kSkeletonArgs,
    .map = map_replay,
    .reduce = reduce,
    .part_columns = std::span(kSkeletonColumns).subspan(1),
    .on_request = true,
};

}  // namespace spotter::analyze
