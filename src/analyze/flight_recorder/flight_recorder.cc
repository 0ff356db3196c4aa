// The tables of what flight recorders show.
#include <algorithm>

#include "analyze/flight_recorder/flight_records.h"
#include "analyze/list.h"
#include "analyze/range_text.h"

namespace spotter::analyze {
namespace {

const Field kColumns[] = {
    {"group", Type::text, Unit::none, Role::key, "Name of the process group; it may be a number."},
    {"description", Type::text, Unit::none, Role::key, "What the program calls the group."},
    {"finding", Type::text, Unit::none, Role::key,
     "completed: the last collective that all ranks whose dumps tell have ended; not_joined: some ranks have "
     "called it, others have not; left_behind: all that tell have called it, and some have ended it that others "
     "are still in; unfinished: all that tell are in it; differs: ranks call different operations under one "
     "number, or with other sizes or types; unanswered: ranks receive what the sender is not sending."},
    {"sequence", Type::integer, Unit::none, Role::value,
     "Number of the collective within its group; of unanswered receives the group's number of the first."},
    {"operation", Type::text, Unit::none, Role::value, "What is called; null where no dump has it any more."},
    {"sizes", Type::text, Unit::none, Role::value, "Sizes of the tensors that go in and come out."},
    {"types", Type::text, Unit::none, Role::value, "Types of their elements."},
    {"ranks", Type::text, Unit::none, Role::value,
     "Whom it is about: completed: who has ended it; not_joined: missing and silent; left_behind and unfinished: "
     "inside; differs: all but the most; unanswered: the senders."},
    {"inside", Type::text, Unit::none, Role::value,
     "Ranks that have called it, and for which it has not ended."},
    {"ended", Type::text, Unit::none, Role::value,
     "Ranks for which it has ended, or that have called a later one."},
    {"missing", Type::text, Unit::none, Role::value, "Ranks that have not called it."},
    {"silent", Type::text, Unit::none, Role::value,
     "Ranks whose dump says nothing of the group: not called, or ended and forgotten."},
    {"without_dump", Type::text, Unit::none, Role::value, "Ranks of the group of which there is no dump."},
    {"since_ns", Type::integer, Unit::ns, Role::time, "When the first rank called it, Unix time."},
    whole({"detail", Type::text, Unit::none, Role::detail, "What differs, or who receives from whom."}),
};

const Field kRankColumns[] = {
    {"group", Type::text, Unit::none, Role::key, "Name of the process group."},
    {"description", Type::text, Unit::none, Role::key, "What the program calls the group."},
    kRankField,
    {"calls", Type::integer, Unit::count, Role::value, "Calls of any kind in the dump."},
    {"open_calls", Type::integer, Unit::count, Role::value, "Of them those that have not ended."},
    {"last_sequence", Type::integer, Unit::none, Role::value,
     "Number of the last collective that the rank has called; null where the dump does not say."},
    {"first_open_sequence", Type::integer, Unit::none, Role::value,
     "Number of the first collective that has not ended."},
    {"open_operation", Type::text, Unit::none, Role::value, "What that is."},
    {"open_since_ns", Type::integer, Unit::ns, Role::time, "When it was called, Unix time."},
    {"status_enqueued", Type::integer, Unit::none, Role::detail,
     "The recorder's own number of the last call; backends count different things."},
    {"status_started", Type::integer, Unit::none, Role::detail, "Likewise of the last that has started."},
    {"status_completed", Type::integer, Unit::none, Role::detail, "Likewise of the last that has ended."},
};

Value text_or_null(const std::set<i64>& ranks, std::string& text) {
  text = range_text(ranks);
  return or_null(std::string_view(text));
}

// A trace says nothing of it.
// A trace has no part in it.
template <const Analysis& analysis>
Result<Table> map_nothing(const Trace&, const ParamValues&) {
  return Table(analysis.name, map_columns(analysis));
}

Result<Table> without_dumps(const Analysis& analysis) {
  Table table(analysis.name, analysis.columns);
  table.notes.add("no_flight_records", Severity::info,
                  "there are no dumps of flight recorders beside the traces");
  return table;
}

Table table_of_groups(const FlightRecords& records) {
  Table table(kFlightRecorder.name, kColumns);
  for (const GroupFinding& f : records.findings) {
    const ProcessGroup& group = records.groups.groups()[f.group];
    const CallForm form = f.form ? records.groups.form(*f.form) : CallForm();
    std::string ranks, inside, ended, missing, silent, without_dump;
    table.append(
        {std::string_view(group.name), std::string_view(group.description), kind_name(f.kind), f.sequence,
         or_null(std::string_view(form.operation)), or_null(std::string_view(form.sizes)),
         or_null(std::string_view(form.types)), text_or_null(f.ranks, ranks), text_or_null(f.inside, inside),
         text_or_null(f.ended, ended), text_or_null(f.missing, missing), text_or_null(f.silent, silent),
         text_or_null(f.without_dump, without_dump), or_null(f.since), or_null(std::string_view(f.detail))});
  }
  return table;
}

Table table_of_ranks(const FlightRecords& records) {
  Table table(kFlightRecorderRanks.name, kRankColumns);
  for (const ProcessGroup& group : records.groups.groups()) {
    for (const auto& [rank, place] : group.ranks) {
      const auto open = std::ranges::find(place.collectives, false, &GroupCall::has_ended);
      const bool has_open = open != place.collectives.end();
      const FlightRecord::Status status = place.status.value_or(FlightRecord::Status());
      table.append({std::string_view(group.name), std::string_view(group.description), rank, place.calls,
                    place.open_calls, or_null(place.last), or_null(place.first_open()),
                    has_open ? Value(std::string_view(records.groups.form(open->form).operation)) : Value(),
                    has_open ? or_null(open->created) : Value(), or_null(status.last_enqueued),
                    or_null(status.last_started), or_null(status.last_completed)});
    }
  }
  return table;
}

}  // namespace

const Analysis kFlightRecorder = {
    .name = "flight_recorder",
    .summary =
        "What the dumps of flight recorders show over all ranks: who is in which collective, and who is not.",
    .doc =
        "PyTorch's flight recorder (TORCH_NCCL_TRACE_BUFFER_SIZE) remembers the last calls of each rank, and leaves them in a file where one times out. "
        "Dumps that lie beside the traces, or alone in a folder, are compared: in each group of processes the last collective that all have ended, the "
        "first one that some have called and others have not, that has not ended, or in which calls differ, and receives that nobody answers. A "
        "collective is what its number within the group says. Records are made one after the other: in a job that runs, what has just begun looks unfinished, "
        "too. All dumps count, whichever ranks and steps are asked for.",
    .params = {},
    .columns = kColumns,
    .reads = {},
    .map = map_nothing<kFlightRecorder>,
    .reduce = [](std::span<const RankTable>, const ParamValues&) { return without_dumps(kFlightRecorder); },
    .on_request = true,
    .of_records = table_of_groups,
};

const Analysis kFlightRecorderRanks = {
    .name = "flight_recorder_ranks",
    .summary = "Where each rank was in each group of processes, by the dumps of flight recorders.",
    .doc =
        "A row for each group and rank that has a dump: how many calls it has and the numbers of the last ones. See flight_recorder.",
    .params = {},
    .columns = kRankColumns,
    .reads = {},
    .map = map_nothing<kFlightRecorderRanks>,
    .reduce = [](std::span<const RankTable>,
                 const ParamValues&) { return without_dumps(kFlightRecorderRanks); },
    .on_request = true,
    .of_records = table_of_ranks,
};

}  // namespace spotter::analyze
