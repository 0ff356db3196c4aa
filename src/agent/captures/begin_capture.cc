#include "agent/captures/begin_capture.h"

#include <set>

#include "agent/jobs/job_owner.h"
#include "kineto/trace_folder.h"

namespace spotter::agent {
namespace {

// Why no process is a target.
std::string why_none(Agent& agent, const kineto::Target& target) {
  const size_t registered = agent.processes.registry().all().size();
  if (registered == 0)
    return "no process is registered: is KINETO_USE_DAEMON=1 set where the training processes start, and do they "
           "share this host's network namespace (or KINETO_IPC_SOCKET_DIR)?";
  kineto::Target with_helpers = target;
  with_helpers.helpers = true;
  if (const size_t helpers = agent.processes.registry().matching(with_helpers).size(); helpers > 0)
    return fmt::format("only launchers and workers match ({} of them); \"all\" takes them, too", helpers);
  return fmt::format("{} processes are registered, but none matches; `spotter ps` lists them", registered);
}

Notes notes_of(const kineto::Config& config, i64 helpers, i64 foreign) {
  Notes notes;
  if (helpers > 0)
    notes.add("helpers", Severity::info, "launchers and workers match and are skipped", -1, helpers);
  if (foreign > 0)
    notes.add("other_users", Severity::info, "processes of other users match and are skipped", -1, foreign);
  if (config.memory)
    notes.add("memory_events", Severity::info, "as of PyTorch 2.13 a trace on demand has no memory events");
  if (config.flops)
    notes.add("flops", Severity::info, "as of PyTorch 2.13 a trace on demand does not say the FLOPs");
  return notes;
}

void add_written_elsewhere(const Agent& agent, const std::string& id, Notes& notes) {
  std::string why;
  i64 count = 0;
  for (const capture::Receipt& receipt : agent.captures.find(id)->receipts) {
    const auto process = agent.registry.all().find(receipt.pid);
    if (process == agent.registry.all().end()) continue;
    std::string its = kineto::why_written_elsewhere(process->second, receipt.file);
    if (its.empty()) continue;
    if (++count == 1) why = fmt::format("process {}: {}", receipt.pid, its);
  }
  if (count > 0) notes.add("written_elsewhere", Severity::loss, why, -1, count);
}

}  // namespace

Result<BegunCapture> begin_capture(Agent& agent, const Peer& peer, WantedCapture wanted,
                                   std::string_view what) {
  TRY(agent.access.may(peer, AccessRole::trace));
  if (wanted.request.output.empty()) wanted.request.output = agent.access.default_directory();
  kineto::Target everyone = wanted.target;
  everyone.helpers = true;
  const std::set<i64> named(wanted.target.pids.begin(), wanted.target.pids.end());
  // Who may trace everybody's still means the job, and not whoever says that he is of it.
  const bool is_job = !wanted.target.job.empty() && !peer.only_uid;
  const kineto::Registry& registered = agent.processes.registry();
  const i64 owner = is_job ? owner_of(*agent.identities, registered, wanted.target.job) : -1;
  i64 helpers = 0, foreign = 0;
  for (const kineto::Process* process : agent.processes.registry().matching(everyone)) {
    // A pid that was named is meant, whatever it is.
    const bool by_name = named.contains(process->facts.pid);
    if (!by_name && !wanted.target.helpers && process->identity.role == process::Role::helper)
      ++helpers;
    else if (!by_name && (!agent.access.may_trace(peer, *process) || (is_job && process->facts.uid != owner)))
      ++foreign;
    else
      wanted.request.pids.push_back(process->facts.pid);
  }
  if (wanted.request.pids.empty() && foreign > 0) {
    const auto denied = fail(Code::denied, "the {} processes that match are other users'", foreign);
    agent.audit.refused(peer, fmt::format("asks for {}", what), denied.value());
    return denied;
  }
  if (wanted.request.pids.empty()) return fail(Code::not_found, "{}", why_none(agent, wanted.target));
  TRY_ASSIGN(std::string id, agent.control.begin(peer, wanted.request, what));
  Notes notes = notes_of(wanted.request.config, helpers, foreign);
  add_written_elsewhere(agent, id, notes);
  return BegunCapture{std::move(id), std::move(notes)};
}

}  // namespace spotter::agent
