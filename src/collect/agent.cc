// agent: what measuring costs, and what of it was lost.
#include <unistd.h>

#include <ctime>
#include <set>
#include <utility>

#include "collect/kernel_file.h"
#include "collect/list.h"
#include "collect/process/process_files.h"
#include "collect/values.h"

namespace spotter::collect {
namespace {

constexpr Field kAgentColumns[] = {
    {"cpu_ns", Type::integer, Unit::ns, Role::counter, "Processor time of the agent.", Since::agent},
    {"resident_bytes", Type::integer, Unit::bytes, Role::value, "Memory that the agent holds."},
    {"threads", Type::integer, Unit::count, Role::value, "Threads of the agent."},
};
constexpr Field kCollectorColumns[] = {
    {"collector", Type::text, Unit::none, Role::key, "Name of the collector."},
    {"up", Type::flag, Unit::none, Role::value, "Whether there is something for it on this machine."},
    {"samples", Type::integer, Unit::count, Role::counter, "Samples that were taken or tried.", Since::agent},
    {"failures", Type::integer, Unit::count, Role::counter, "Samples that failed.", Since::agent},
    {"late", Type::integer, Unit::count, Role::counter,
     "Samples that began more than a tenth of the period after their time.", Since::agent},
    {"skipped", Type::integer, Unit::count, Role::counter, "Samples left out, because their time had passed.",
     Since::agent},
    {"busy_ns", Type::integer, Unit::ns, Role::counter, "Processor time of its samples.", Since::agent},
    {"left_out", Type::integer, Unit::count, Role::value,
     "Things (processes, ports, groups of events) that its last sample has no rows of, because there are too many."},
};
constexpr Field kSinkColumns[] = {
    {"sink", Type::text, Unit::none, Role::key, "Name of the sink, or history."},
    {"queued", Type::integer, Unit::count, Role::value, "Batches that wait for it."},
    {"delivered", Type::integer, Unit::count, Role::counter, "Batches that arrived where they were to go.",
     Since::agent},
    {"dropped", Type::integer, Unit::count, Role::counter, "Batches that are lost to it.", Since::agent},
    {"failures", Type::integer, Unit::count, Role::counter, "Attempts that failed.", Since::agent},
    {"rejected", Type::integer, Unit::count, Role::counter,
     "Values of delivered batches that the other side would not have; of the history: rows, events and captures that could "
     "not be written, and blocks that are damaged.",
     Since::agent},
};
constexpr Field kNotifierColumns[] = {
    {"notifier", Type::text, Unit::none, Role::key, "Name of the notifier."},
    {"sent", Type::integer, Unit::count, Role::counter, "Messages that arrived.", Since::agent},
    {"failed", Type::integer, Unit::count, Role::counter, "Attempts that failed.", Since::agent},
    {"dropped", Type::integer, Unit::count, Role::counter,
     "Words of incidents that it was never told: they were refused, or given up.", Since::agent},
    {"waiting", Type::integer, Unit::count, Role::value, "Words of incidents that it has still to be told."},
};
constexpr Field kIncidentColumns[] = {
    {"state", Type::text, Unit::none, Role::key,
     "How far they are: pending, firing, investigating, verdict, inconclusive or recovering."},
    {"severity", Type::text, Unit::none, Role::key, "info, warning or critical."},
    {"incidents", Type::integer, Unit::count, Role::value,
     "Open incidents of which this host speaks: of a job on many hosts one of them does."},
};
constexpr Field kCapturesColumns[] = {
    {"result", Type::text, Unit::none, Role::key,
     "traced; failed: no rank gave a trace; refused: by the job's budget, its user, a full disk or this host; dry_run."},
    {"captures_automatic", Type::integer, Unit::count, Role::counter,
     "Captures that were wanted for incidents, a canary's and those after it each.", Since::agent},
};

constexpr TableKind kTables[] = {
    {"agent", "/proc/self", "The agent itself.", kAgentColumns},
    {"agent_collector", "the agent", "A collector of the agent.", kCollectorColumns},
    {"agent_sink", "the agent", "Where the agent hands its samples on to.", kSinkColumns},
    {"notifier", "the agent", "Whom the agent tells of incidents.", kNotifierColumns},
    {"incidents", "the agent", "Incidents in one state and of one severity.", kIncidentColumns},
    {"captures_automatic", "the agent", "Captures for incidents, by how they went.", kCapturesColumns},
};

class Agent : public Collector {
 public:
  explicit Agent(const Surroundings& s) : surroundings_(s), files_(Host{}, getpid()) {}

  Result<std::vector<Table>> sample() override {
    std::vector<Table> tables;
    TRY_ASSIGN(const ProcessTimes times, files_.read());
    timespec cpu{};  // more exactly than the ticks of /proc
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    tables.emplace_back("agent", kAgentColumns)
        .append({cpu.tv_sec * kSecond + cpu.tv_nsec, times.resident_bytes, times.threads});
    Table& collectors = tables.emplace_back("agent_collector", kCollectorColumns);
    for (const CollectorState& c :
         surroundings_.collectors ? surroundings_.collectors() : std::vector<CollectorState>())
      collectors.append(
          {std::string_view(c.name), c.is_open, c.samples, c.failed, c.late, c.skipped, c.busy, c.left_out});
    Table& sinks = tables.emplace_back("agent_sink", kSinkColumns);
    for (const SinkState& c : surroundings_.consumers ? surroundings_.consumers() : std::vector<SinkState>())
      sinks.append({std::string_view(c.name), c.queued, c.delivered, c.dropped, c.failures, c.rejected});
    Table& notifiers = tables.emplace_back("notifier", kNotifierColumns);
    for (const NotifierCounts& n :
         surroundings_.notifiers ? surroundings_.notifiers() : std::vector<NotifierCounts>())
      notifiers.append({std::string_view(n.name), n.sent, n.failed, n.dropped, n.waiting});
    Table& incidents = tables.emplace_back("incidents", kIncidentColumns);
    for (const IncidentCount& c :
         surroundings_.incidents ? surroundings_.incidents() : std::vector<IncidentCount>())
      if (c.incidents > 0 || told_.contains({c.state, c.severity})) {
        incidents.append({c.state, c.severity, c.incidents});
        told_.emplace(c.state, c.severity);
      }
    Table& captures = tables.emplace_back("captures_automatic", kCapturesColumns);
    for (const CaptureCount& c :
         surroundings_.automatic_captures ? surroundings_.automatic_captures() : std::vector<CaptureCount>())
      captures.append({c.result, c.captures});
    return tables;
  }

 private:
  Surroundings surroundings_;
  ProcessFiles files_;
  // Rows that there were: each goes on, to 0. There are 18 in all, and most hosts have none for days.
  std::set<std::pair<std::string_view, std::string_view>> told_;
};

}  // namespace

const CollectorKind kAgent = {
    .name = "agent",
    .help = "What measuring costs, and what of it was lost.",
    .period = 10 * kSecond,
    .tables = kTables,
    .open = [](const Surroundings& s) -> Result<std::unique_ptr<Collector>> {
      return std::make_unique<Agent>(s);
    },
};

}  // namespace spotter::collect
