#include "agent/tables.h"

#include <unistd.h>

#include "base/utf8.h"
#include "base/version.h"

namespace spotter::agent {
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
    {"torch", Type::text, Unit::none, Role::detail, "Version of PyTorch."},
    {"command", Type::text, Unit::none, Role::value, "Command line."},
    {"evidence", Type::text, Unit::none, Role::detail, "What its role is told from."},
};

const Field kStatusColumns[] = {
    {"host", Type::text, Unit::none, Role::detail, "Host of the agent."},
    {"part", Type::text, Unit::none, Role::key, "Part of the agent."},
    {"state", Type::text, Unit::none, Role::value,
     "works, fails, nothing (there is nothing for it here) or off."},
    {"detail", Type::text, Unit::none, Role::value, "What it has done."},
};

const Field kCaptureColumns[] = {
    {"host", Type::text, Unit::none, Role::detail, "Host of the agent."},
    {"id", Type::text, Unit::none, Role::key, "The capture."},
    {"began_ns", Type::integer, Unit::ns, Role::time, "When it was asked for, Unix time."},
    {"state", Type::text, Unit::none, Role::value,
     "running; at the end written, partly written (not all of its files) or failed."},
    {"processes", Type::integer, Unit::count, Role::value, "How many processes were asked."},
    {"written", Type::integer, Unit::count, Role::value, "How many have written a file with events."},
    {"output", Type::text, Unit::none, Role::value, "Folder of the files, as the processes call it."},
    {"asked_by", Type::text, Unit::none, Role::detail, "Who asked for it."},
    {"job", Type::text, Unit::none, Role::detail,
     "Job of its processes; null where they have none, or not the same."},
};

template <class T>
Value or_null(const std::optional<T>& value) {
  return value ? Value(*value) : Value();
}

double seconds(Ns ns) { return static_cast<double>(ns) / 1e9; }

Value or_null(const std::string& text) { return text.empty() ? Value() : Value(std::string_view(text)); }

}  // namespace

std::span<const Field> processes_columns() { return kProcessColumns; }
std::span<const Field> status_columns() { return kStatusColumns; }
std::span<const Field> captures_columns() { return kCaptureColumns; }

Table processes_table(Agent& agent) {
  Table table("processes", kProcessColumns);
  const auto& processes = agent.registry().all();
  const Ns now = agent.now().steady;  // after whoever was met just now
  for (const auto& [pid, p] : processes) {
    const char* state = !p.poll.takes_trace() ? "busy" : agent.captures().busy(pid) ? "requested" : "idle";
    const std::string command = to_printable(fmt::format("{}", fmt::join(p.facts.command, " ")));
    table.append({std::string_view(agent.host_name()), pid, p.facts.inner_pid, p.facts.uid,
                  std::string_view(process::role_name(p.identity.role)), or_null(p.identity.rank),
                  or_null(p.identity.world_size), or_null(p.identity.job), std::string_view(state), p.polls,
                  now - p.last_poll, or_null(p.facts.torch_version), or_null(command),
                  or_null(p.identity.evidence)});
  }
  return table;
}

Table captures_table(Agent& agent) {
  Table table("captures", kCaptureColumns);
  for (const capture::Capture* capture : agent.captures().all()) {
    const std::string output = capture->output();
    table.append({std::string_view(agent.host_name()), std::string_view(capture->id),
                  capture->accepted.unix_ms * 1'000'000, std::string_view(capture->state()),
                  static_cast<i64>(capture->receipts.size()), static_cast<i64>(capture->written()),
                  or_null(output), std::string_view(capture->asked_by), or_null(capture->job)});
  }
  return table;
}

Table status_table(const Agent& agent) {
  Table table("status", kStatusColumns);
  const Counters& c = agent.counters();
  const auto row = [&](std::string_view part, std::string_view state, const std::string& detail) {
    table.append({std::string_view(agent.host_name()), part, state, std::string_view(detail)});
  };
  row("agent", "works",
      fmt::format("version {}, process {}, up {} s, on {}", kVersion, getpid(),
                  (agent.now().steady - agent.started()) / 1'000'000'000, agent.host_name()));
  const std::string& directory = agent.options().ipc_directory;
  row("ipc", "works",
      fmt::format("at {}: {} polls, {} requests sent, {} sends failed, {} bad datagrams",
                  directory.empty() ? "@dynolog@" : directory + "/dynolog", c.polls, c.requests_sent,
                  c.sends_failed, c.bad_datagrams));
  row("api", "works", fmt::format("at {}: {} requests", agent.options().api_socket, c.http_requests));
  row("api for other hosts", agent.remote_port() ? "works" : "off",
      agent.remote_port() ? fmt::format("at {}:{}", agent.options().remote->address, agent.remote_port())
                          : std::string("no \"listen\" in its configuration"));
  row("dynolog rpc", agent.options().rpc_port ? "works" : "off", fmt::format("{} requests", c.rpc_requests));
  row("prometheus", agent.prometheus_port() ? "works" : "off",
      agent.prometheus_port()
          ? fmt::format("at {}:{}", agent.options().prometheus->address, agent.prometheus_port())
          : std::string("no \"prometheus\" in its configuration"));
  row("connections", "works",
      fmt::format("{} open, {} closed to make room", agent.connections(), agent.closed_for_room()));
  for (const collect::CollectorState& collector : agent.telemetry().collectors()) {
    const char* state = !collector.is_open ? "nothing" : collector.last_error.empty() ? "works" : "fails";
    std::string detail = fmt::format(
        "{} samples, one in {:g} s, {:.2g} ms each; {} failed, {} late, {} skipped", collector.samples,
        seconds(collector.period),
        collector.samples > 0 ? seconds(collector.busy) * 1e3 / static_cast<double>(collector.samples) : 0.0,
        collector.failed, collector.late, collector.skipped);
    if (collector.left_out > 0) detail += fmt::format(", {} things left out", collector.left_out);
    if (!collector.is_open)
      detail = collector.last_error.empty() ? "not looked for yet" : collector.last_error;
    if (collector.is_open && !collector.last_error.empty()) detail += ": " + collector.last_error;
    row(fmt::format("collector {}", collector.name), state, to_printable(detail));
  }
  for (const SinkState& consumer : agent.telemetry().consumers()) {
    std::string detail =
        fmt::format("{} batches delivered, {} waiting, {} dropped; {} attempts failed", consumer.delivered,
                    consumer.queued, consumer.dropped, consumer.failures);
    if (consumer.rejected > 0) detail += fmt::format(", {} values lost", consumer.rejected);
    if (!consumer.last_error.empty()) detail += ": " + consumer.last_error;
    row(consumer.name, consumer.last_error.empty() ? "works" : "fails", to_printable(detail));
  }
  if (!agent.telemetry().why_no_history().empty()) row("history", "off", agent.telemetry().why_no_history());
  return table;
}

}  // namespace spotter::agent
