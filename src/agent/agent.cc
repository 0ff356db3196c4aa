#include "agent/agent.h"

#include <utility>

#include "agent/captures/capture_note.h"
#include "base/text/utf8.h"
#include "base/version.h"

namespace spotter::agent {
namespace {

std::vector<NotifierCounts> notifier_counts(const IncidentMemory* memory) {
  std::vector<NotifierCounts> counts;
  if (!memory) return counts;
  for (const notify::NotifierState& n : memory->state().notifiers)
    counts.push_back({n.name, n.sent, n.failed, n.dropped, n.waiting});
  return counts;
}

}  // namespace

Agent::Agent(net::Loop& loop, AgentOptions o, Host h)
    : options(std::move(o)),
      host(std::move(h)),
      host_name(to_printable(spotter::host_name())),
      started(loop.now()),
      clock{loop, host},
      access(options.output_directories, options.clients),
      audit(loop, host),
      profiling_pause(std::make_shared<collect::ProfilingPause>()),
      identities(std::make_shared<collect::Identities>(host, options.telemetry.job_labels)),
      registry(host),
      captures(registry, host, host_name, capture::aside_for_each_user()),
      waiters(loop, captures),
      analyses(loop, host, host_name, {.helper = options.helper}),
      incident_queries(loop),
      incidents({loop, clock, host, host_name, access, audit, registry, identities, analyses},
                options.respond),
      telemetry({loop, host, host_name, identities, profiling_pause, options.helper,
                 [this] { return notifier_counts(incident_memory.get()); },
                 [this] { return incidents.open_counts(); },
                 [this] { return incidents.automatic_captures(); },
                 options.respond.is_on ? std::vector<Consumer*>{&incidents} : std::vector<Consumer*>()}),
      processes(loop, clock, registry, captures, [this](i64 pid) { identities->notice(pid); }),
      control({loop, clock, access, audit, processes, captures, *profiling_pause}) {
  net::allow_many_descriptors();  // one for each process that is watched and each connection
  captures.add_listener([this](const capture::Capture& c) { telemetry.note_capture(note_of(c)); });
  captures.add_listener([this](const capture::Capture& c) { waiters.changed(c); });
  captures.add_listener([this](const capture::Capture& c) { incidents.captured(c); });
}

Agent::~Agent() = default;

Result<void> Agent::listen() {
  if (!options.audit_log.empty()) TRY(audit.open(options.audit_log, host_name));
  return processes.listen(options.ipc_directory);
}

Result<void> Agent::measure() {
  IncidentMemoryOptions memory{.path = options.incidents_file};
  for (const NotifierOptions& notifier : options.notifiers) {
    TRY_ASSIGN(notify::Receiver receiver,
               open_receiver(notifier, {std::string(kVersion), host_name, options.respond.report_url}));
    memory.receivers.push_back(std::move(receiver));
  }
  TRY_ASSIGN(incident_memory, IncidentMemory::open(std::move(memory)));
  if (options.respond.is_on) TRY(incidents.begin(*incident_memory));
  return telemetry.begin(options.telemetry);
}

}  // namespace spotter::agent
