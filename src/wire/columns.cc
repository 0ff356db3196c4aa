#include "wire/columns.h"

namespace spotter::wire {
namespace {

const Field kProcessColumns[] = {
    {"host", Type::text, Unit::none, Role::detail, "Host of the process."},
    {"pid", Type::integer, Unit::none, Role::key, "Process id, as the host counts."},
    {"inner_pid", Type::integer, Unit::none, Role::detail,
     "Process id as the process itself sees it (in its container)."},
    {"uid", Type::integer, Unit::none, Role::detail, "User id."},
    {"role", Type::text, Unit::none, Role::value,
     "rank (of a distributed job), training (on its own) or helper (launcher, worker)."},
    {"rank", Type::integer, Unit::none, Role::value, "Rank in the job; null where the process has none."},
    {"world_size", Type::integer, Unit::none, Role::value, "Processes of the job."},
    {"job", Type::text, Unit::none, Role::value, "Job of the scheduler or launcher."},
    {"state", Type::text, Unit::none, Role::value,
     "idle, busy (at a capture) or requested (a capture waits for it)."},
    {"polls", Type::integer, Unit::count, Role::detail, "How often it has asked for a request."},
    {"last_poll_ns", Type::integer, Unit::ns, Role::detail, "How long ago it asked last."},
    {"automatic", Type::text, Unit::none, Role::detail,
     "off: it is not traced for an incident, as its environment (SPOTTER_RESPOND) or the configuration wants "
     "it; on: it may be; null: no job is."},
    {"torch", Type::text, Unit::none, Role::detail, "Version of PyTorch."},
    whole({"command", Type::text, Unit::none, Role::value, "Command line."}),
    {"evidence", Type::text, Unit::none, Role::detail, "What its role is told from."},
};

const Field kStatusColumns[] = {
    {"host", Type::text, Unit::none, Role::detail, "Host of the agent."},
    {"part", Type::text, Unit::none, Role::key, "Part of the agent."},
    {"state", Type::text, Unit::none, Role::value,
     "works, fails, nothing (there is nothing for it here) or off."},
    whole({"detail", Type::text, Unit::none, Role::value, "What it has done."}),
};

const Field kCaptureColumns[] = {
    {"host", Type::text, Unit::none, Role::detail, "Host of the agent."},
    {"id", Type::text, Unit::none, Role::key, "The capture."},
    {"began_ns", Type::integer, Unit::ns, Role::time, "When it was asked for, Unix time."},
    {"state", Type::text, Unit::none, Role::value,
     "running; at the end written, partly written (not all of its files) or failed."},
    {"processes", Type::integer, Unit::count, Role::value, "How many processes were asked."},
    {"written", Type::integer, Unit::count, Role::value, "How many have written a file with events."},
    whole({"output", Type::text, Unit::none, Role::value, "Folder of the files, as the processes call it."}),
    {"asked_by", Type::text, Unit::none, Role::detail, "Who asked for it."},
    {"job", Type::text, Unit::none, Role::detail,
     "Job of its processes; null where they have none, or not the same."},
};

const Field kHostColumns[] = {
    {"host", Type::text, Unit::none, Role::key, "The host, by the name that it is asked by."},
    {"address", Type::text, Unit::none, Role::detail, "Where its agent is asked."},
    {"kind", Type::text, Unit::none, Role::detail, "local (by a UNIX socket) or remote (by TLS)."},
    {"state", Type::text, Unit::none, Role::value,
     "up, down (no agent answers), denied (it does not let who asks in) or asked (it has not answered yet)."},
    {"role", Type::text, Unit::none, Role::detail,
     "What who asks may do there: view, trace or admin; null where that is not known."},
    {"version", Type::text, Unit::none, Role::value, "Version of the agent; null where that is not known."},
    {"uptime_ns", Type::integer, Unit::ns, Role::value, "How long the agent has run; null where not known."},
    {"failing", Type::text, Unit::none, Role::value,
     "Parts of the agent that fail, empty where none does; null where that is not known."},
    {"history", Type::flag, Unit::none, Role::detail,
     "Whether it keeps a history of what it measures; null where that is not known."},
    whole({"message", Type::text, Unit::none, Role::value, "Why it is not up."}),
    {"prefix", Type::text, Unit::none, Role::detail,
     "What stands before the paths of its API here; null where it cannot be asked."},
};

}  // namespace

std::span<const Field> processes_columns() { return kProcessColumns; }
std::span<const Field> status_columns() { return kStatusColumns; }
std::span<const Field> captures_columns() { return kCaptureColumns; }
std::span<const Field> hosts_columns() { return kHostColumns; }

}  // namespace spotter::wire
