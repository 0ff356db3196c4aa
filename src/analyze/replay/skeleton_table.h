// The skeleton of a rank as a table, in which it travels.
#pragma once
#include <span>

#include "analyze/analysis.h"
#include "analyze/replay/skeleton.h"

namespace spotter::analyze {

// Of the stacked tables of all ranks; none but the rank is null.
inline const Field kSkeletonColumns[] = {
    kRankField,
    {"op", Type::text, Unit::none, Role::key,
     "step, end, last_call, open_span, recorded, run, collective, wait, await, sync, pause, compute or work: what the host came to."},
    {"cause", Type::text, Unit::none, Role::key,
     "Of a pause and of a sync: what kind; of work: copy for a copy or set; may be empty."},
    {"name", Type::text, Unit::none, Role::key,
     "Device, operation, kernel, operator or annotation; may be empty."},
    {"group", Type::text, Unit::none, Role::detail,
     "Of a collective: its group of processes; of a step: the host; may be empty."},
    {"stream", Type::integer, Unit::none, Role::key, "Number among the rank's streams, or -1."},
    {"target", Type::integer, Unit::none, Role::detail, "Of wait and await: the row awaited; else -1."},
    {"at_ns", Type::integer, Unit::ns, Role::time, "When the host came to it, Unix time."},
    {"host_ns", Type::integer, Unit::ns, Role::value, "That it takes of the host's time, without waiting."},
    {"device_ns", Type::integer, Unit::ns, Role::value, "Of run, compute and work: their pieces together."},
    {"gap_ns", Type::integer, Unit::ns, Role::value,
     "Of run and collective: the stream idles though the work was launched and nothing is awaited."},
    {"start_ns", Type::integer, Unit::ns, Role::time,
     "Of a collective: start of its kernel; of end: the mark's end; Unix time; else 0."},
    {"end_ns", Type::integer, Unit::ns, Role::time,
     "Of a collective: end of its kernel; of end: when all work before it has ended; Unix time; else 0."},
    {"count", Type::integer, Unit::none, Role::value,
     "Of last_call: calls made; of run and work: pieces; of a collective: bytes that cross a link; of a pause: ns covered by operators."},
    {"number", Type::integer, Unit::none, Role::detail,
     "Of a step: its own; of last_call: calls that ended; of open_span: devices that the process sees; of a collective: that in its group, or -1; of a pause: its place; of work: its kind."},
    {"peer", Type::integer, Unit::none, Role::detail, "Of a send or receive: the other rank; else -1."},
    {"points", Type::integer, Unit::none, Role::detail, "How many of the following pairs count."},
    {"lead1_ns", Type::integer, Unit::ns, Role::detail,
     "From the first call to when a launch reaches its stream."},
    {"rest1_ns", Type::integer, Unit::ns, Role::detail, "How long the stream then works to the run's end."},
    {"lead2_ns", Type::integer, Unit::ns, Role::detail, "As lead1_ns."},
    {"rest2_ns", Type::integer, Unit::ns, Role::detail, "As rest1_ns."},
    {"lead3_ns", Type::integer, Unit::ns, Role::detail, "As lead1_ns."},
    {"rest3_ns", Type::integer, Unit::ns, Role::detail, "As rest1_ns."},
    {"lead4_ns", Type::integer, Unit::ns, Role::detail, "As lead1_ns."},
    {"rest4_ns", Type::integer, Unit::ns, Role::detail, "As rest1_ns."},
};

Table skeleton_table(Skeleton skeleton, const char* name = "skeleton");
// Of the rows of a table with these columns, which may have come from another host: rows with impossible
// values are left out, with a note.
Skeleton skeleton_of(const Table& table);

}  // namespace spotter::analyze
