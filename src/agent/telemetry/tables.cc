#include "agent/telemetry/tables.h"

#include "agent/jobs/left_alone.h"
#include "base/text/utf8.h"
#include "wire/columns.h"

namespace spotter::agent {

namespace {

Value automatic(Agent& agent, const kineto::Process& process) {
  const RespondOptions& options = agent.options.respond;
  if (!options.is_on || options.captures != AutomaticCaptures::automatic) return {};
  const std::string user = agent.identities->who(process.facts.pid).user;
  return std::string_view(why_left_alone(options, &process, user).empty() ? "on" : "off");
}

}  // namespace

Table processes_table(Agent& agent) {
  Table table("processes", wire::processes_columns());
  const auto& processes = agent.processes.registry().all();
  const Ns now = agent.clock.now().steady;  // after whoever was met just now
  for (const auto& [pid, p] : processes) {
    const char* state = !p.poll.takes_trace() ? "busy" : agent.captures.busy(pid) ? "requested" : "idle";
    const std::string command = to_printable(fmt::format("{}", fmt::join(p.facts.command, " ")));
    table.append({std::string_view(agent.host_name), pid, p.facts.inner_pid, p.facts.uid,
                  std::string_view(process::role_name(p.identity.role)), or_null(p.identity.rank),
                  or_null(p.identity.world_size), or_null(p.identity.job), std::string_view(state), p.polls,
                  now - p.last_poll, automatic(agent, p), or_null(p.facts.torch_version), or_null(command),
                  or_null(p.identity.evidence)});
  }
  return table;
}

Table captures_table(const Agent& agent) {
  Table table("captures", wire::captures_columns());
  for (const capture::Capture* capture : agent.captures.all()) {
    const std::string output = capture->output();
    table.append({std::string_view(agent.host_name), std::string_view(capture->id),
                  capture->accepted.unix_ms * 1'000'000, std::string_view(capture->state()),
                  static_cast<i64>(capture->receipts.size()), static_cast<i64>(capture->written()),
                  or_null(output), std::string_view(capture->asked_by), or_null(capture->job)});
  }
  return table;
}

}  // namespace spotter::agent
