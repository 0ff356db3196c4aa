// The tables of what flight recorders show.
#include <algorithm>

#include "analyze/analysis.h"
#include "analyze/flight_recorder/group_findings.h"
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

}  // namespace

const std::span<const Field> kFlightRecorderColumns = kColumns, kFlightRecorderRankColumns = kRankColumns;

Table flight_recorder(const ProcessGroups& groups, const std::vector<GroupFinding>& findings) {
  Table table("flight_recorder", kFlightRecorderColumns);
  for (const GroupFinding& f : findings) {
    const ProcessGroup& group = groups.groups()[f.group];
    const CallForm form = f.form ? groups.form(*f.form) : CallForm();
    std::string ranks, inside, ended, missing, silent, without_dump;
    table.append(
        {std::string_view(group.name), std::string_view(group.description), kind_name(f.kind), f.sequence,
         or_null(std::string_view(form.operation)), or_null(std::string_view(form.sizes)),
         or_null(std::string_view(form.types)), text_or_null(f.ranks, ranks), text_or_null(f.inside, inside),
         text_or_null(f.ended, ended), text_or_null(f.missing, missing), text_or_null(f.silent, silent),
         text_or_null(f.without_dump, without_dump), or_null(f.since), or_null(std::string_view(f.detail))});
  }
  table.notes.merge(groups.notes());
  return table;
}

Table flight_recorder_ranks(const ProcessGroups& groups) {
  Table table("flight_recorder_ranks", kFlightRecorderRankColumns);
  for (const ProcessGroup& group : groups.groups()) {
    for (const auto& [rank, place] : group.ranks) {
      const auto open = std::ranges::find(place.collectives, false, &GroupCall::has_ended);
      const bool has_open = open != place.collectives.end();
      const FlightRecord::Status status = place.status.value_or(FlightRecord::Status());
      table.append({std::string_view(group.name), std::string_view(group.description), rank, place.calls,
                    place.open_calls, or_null(place.last), or_null(place.first_open()),
                    has_open ? Value(std::string_view(groups.form(open->form).operation)) : Value(),
                    has_open ? or_null(open->created) : Value(), or_null(status.last_enqueued),
                    or_null(status.last_started), or_null(status.last_completed)});
    }
  }
  return table;
}

}  // namespace spotter::analyze
