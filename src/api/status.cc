#include "api/status.h"

#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "base/text/utf8.h"
#include "base/version.h"
#include "wire/columns.h"

namespace spotter::api {
namespace {

double seconds(Ns ns) { return static_cast<double>(ns) / 1e9; }

// Appends a row for each part.
class Status {
 public:
  Status(Table& table, std::string_view host) : table_(table), host_(host) {}
  void add(std::string_view part, std::string_view state, const std::string& detail) {
    table_.append({host_, part, state, std::string_view(detail)});
  }

 private:
  Table& table_;
  std::string_view host_;
};

void add_agent(const agent::Agent& agent, Status& status) {
  const agent::Processes::Counters& c = agent.processes.counters();
  status.add("agent", "works",
             fmt::format("version {}, process {}, up {} s, on {}", kVersion, getpid(),
                         (agent.clock.now().steady - agent.started) / 1'000'000'000, agent.host_name));
  const std::string& directory = agent.options.ipc_directory;
  status.add("ipc", "works",
             fmt::format("at {}: {} polls, {} requests sent, {} sends failed, {} bad datagrams",
                         directory.empty() ? "@dynolog@" : directory + "/dynolog", c.polls, c.requests_sent,
                         c.sends_failed, c.bad_datagrams));
}

// Where nothing was lost there is nothing to say.
void add_log(const LogLosses& lost, Status& status) {
  if (lost.lines == 0) return;
  std::string detail = fmt::format("{} lines could not be written", lost.lines);
  if (!lost.last_error.empty()) detail += ": " + lost.last_error;
  status.add("log", lost.last_error.empty() ? "works" : "fails", detail);
}

void add_doors(const Doors& doors, Status& status) {
  for (const DoorStatus& door : doors.status())
    status.add(door.name, door.is_open ? "works" : "off", door.detail);
  status.add("connections", "works",
             fmt::format("{} open, {} closed to make room", doors.connections(), doors.closed_for_room()));
}

void add_collector(const collect::CollectorState& collector, Status& status) {
  const bool is_well = collector.last_error.empty() && collector.silent.empty();
  const char* state = !collector.is_open ? "nothing" : is_well ? "works" : "fails";
  std::string detail = fmt::format(
      "{} samples, one in {:g} s, {:.2g} ms each; {} failed, {} late, {} skipped", collector.samples,
      seconds(collector.period),
      collector.samples > 0 ? seconds(collector.busy) * 1e3 / static_cast<double>(collector.samples) : 0.0,
      collector.failed, collector.late, collector.skipped);
  if (collector.left_out > 0) detail += fmt::format(", {} things left out", collector.left_out);
  if (!collector.is_open) detail = collector.last_error.empty() ? "not looked for yet" : collector.last_error;
  if (collector.is_open && !collector.silent.empty()) detail += ": " + collector.silent;
  if (collector.is_open && !collector.last_error.empty()) detail += ": " + collector.last_error;
  status.add(fmt::format("collector {}", collector.name), state, to_printable(detail));
}

void add_consumer(const SinkState& consumer, Status& status) {
  std::string detail = fmt::format("{} batches delivered, {} waiting, {} dropped; {} attempts failed",
                                   consumer.delivered, consumer.queued, consumer.dropped, consumer.failures);
  if (consumer.rejected > 0) detail += fmt::format(", {} values lost", consumer.rejected);
  if (!consumer.last_error.empty()) detail += ": " + consumer.last_error;
  status.add(consumer.name, consumer.last_error.empty() ? "works" : "fails", to_printable(detail));
}

void add_notifier(const notify::NotifierState& n, Status& status) {
  std::string detail = fmt::format("{}: {} messages sent, {} words waiting, {} dropped; {} attempts failed",
                                   n.kind, n.sent, n.waiting, n.dropped, n.failed);
  if (n.is_off) detail += "; it asked to be told nothing more, and is off until the agent restarts";
  if (!n.last_error.empty()) detail += ": " + n.last_error;
  const char* state = n.is_off || !n.last_error.empty() ? "fails" : "works";
  status.add("notifier " + n.name, state, to_printable(detail));
}

void add_incidents(const agent::IncidentMemoryState& memory,
                   const std::optional<agent::ReportFolderState>& reports, Status& status) {
  const store::IncidentStoreState& s = memory.store;
  std::string detail =
      memory.path.empty() ? "remembered in memory alone" : fmt::format("remembered in {}", memory.path);
  detail += fmt::format("; {} changes not written yet, {} lost, {} words overtaken by newer ones",
                        memory.unwritten, memory.lost, s.overtaken);
  if (s.damaged_files > 0) detail += fmt::format("; {} files were damaged or removed", s.damaged_files);
  if (!s.moved_to.empty()) detail += ", the last one is " + s.moved_to;
  if (reports)
    detail += fmt::format("; reports in {}: {} removed to make room, {} lost", reports->path,
                          reports->removed, reports->lost);
  const std::string& why = memory.why_in_memory.empty() ? s.last_error : memory.why_in_memory;
  if (!why.empty()) detail += ": " + why;
  status.add("incidents", why.empty() ? "works" : "fails", to_printable(detail));
  for (const notify::NotifierState& notifier : memory.notifiers) add_notifier(notifier, status);
}

// Of very many the first are named.
void add_others(const std::map<std::string, agent::Leading::Other>& others, Status& status) {
  constexpr size_t kMostNamed = 5;
  if (others.empty()) return;
  size_t take_them = 0;
  std::vector<std::string> said;
  for (const auto& [host, other] : others) {
    take_them += other.takes_them;
    if (!other.word.empty()) said.push_back(fmt::format("{} {}", host, other.word));
  }
  std::string detail =
      fmt::format("{} of {} agents of other hosts take this host's conditions", take_them, others.size());
  const size_t named = std::min(said.size(), kMostNamed);
  for (size_t i = 0; i < named; ++i) detail += "; " + said[i];
  if (said.size() > named) detail += fmt::format("; and {} more", said.size() - named);
  status.add("other agents", take_them == others.size() ? "works" : "fails", to_printable(detail));
}

}  // namespace

Table status_table(const agent::Agent& agent, const Doors& doors) {
  Table table("status", wire::status_columns());
  Status status(table, agent.host_name);
  add_agent(agent, status);
  add_log(log_losses(), status);
  add_doors(doors, status);
  for (const collect::CollectorState& collector : agent.telemetry.collectors())
    add_collector(collector, status);
  for (const SinkState& consumer : agent.telemetry.consumers()) add_consumer(consumer, status);
  if (const auto audit = agent.audit.state()) add_consumer(*audit, status);
  if (const std::string& why = agent.telemetry.why_no_history(); !why.empty())
    status.add("history", "off", why);
  if (agent.incident_memory)
    add_incidents(agent.incident_memory->state(), agent.incidents.report_state(), status);
  add_others(agent.incidents.other_agents(), status);
  return table;
}

}  // namespace spotter::api
