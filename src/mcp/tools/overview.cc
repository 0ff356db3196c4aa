// overview: what there is: open incidents, jobs with their newest captures, agents.
#include <algorithm>
#include <map>
#include <set>

#include "mcp/ask.h"
#include "mcp/cells.h"
#include "mcp/list.h"
#include "mcp/record.h"
#include "table/ops.h"
#include "wire/incident_table.h"

namespace spotter::mcp {
namespace {

constexpr size_t kUsualRows = 20;
// So much of captures that nobody has asked for yet is read for an overview: a second's work.
constexpr i64 kReadAhead = i64{96} << 20;

constexpr Field kColumns[] = {
    {"kind", Type::text, Unit::none, Role::key, "incident, job or agent."},
    {"job", Type::text, Unit::none, Role::key, "The job."},
    {"capture", Type::text, Unit::none, Role::key,
     "Its newest capture, for why_slow, query_table and compare."},
    {"incident", Type::text, Unit::none, Role::key, "The incident, for get_incident."},
    {"state", Type::text, Unit::none, Role::value, "Of an incident, a job's capture or an agent."},
    {"severity", Type::text, Unit::none, Role::value,
     "Of an incident: info, warning or critical; of a job: kind of its first finding."},
    {"mechanism", Type::text, Unit::none, Role::value, "The cause as far as it is known."},
    {"ranks", Type::text, Unit::none, Role::value, "Whose it is: ranks, GPUs or hosts."},
    {"share", Type::real, Unit::ratio, Role::value, "What a step would gain without it."},
    {"processes", Type::integer, Unit::count, Role::value,
     "Ranks of the job that are known here, or trace files."},
    {"step_ns", Type::integer, Unit::ns, Role::value, "A step of the job now, as its slowest rank's."},
    {"host", Type::text, Unit::none, Role::value, "The agent's host."},
    {"at", Type::integer, Unit::ns, Role::time, "When the incident began, or the capture."},
};

struct Row {
  std::string kind = {}, job = {}, capture = {}, incident = {}, state = {}, severity = {}, mechanism = {},
              ranks = {}, host = {};
  std::optional<double> share = {};
  std::optional<i64> processes = {}, step_ns = {}, at = {};
};

void append(Table& table, const Row& row) {
  table.append({row.kind, or_null(row.job), or_null(row.capture), or_null(row.incident), or_null(row.state),
                or_null(row.severity), or_null(row.mechanism), or_null(row.ranks), or_null(row.share),
                or_null(row.processes), or_null(row.step_ns), or_null(row.host), or_null(row.at)});
}

// What stands out in a capture, as far as that is known or read at once.
void add_finding(const Call& call, const Capture& capture, i64& budget, size_t& unread, Row& row) {
  if (!call.world.traces->has_findings(capture)) {
    if (capture.bytes == 0 || capture.bytes > budget) {
      ++unread;
      return;
    }
    budget -= capture.bytes;
  }
  const Result<Table> findings = call.world.traces->table(capture, {}, call.patience);
  if (!findings) {
    if (findings.error().code == Code::cancelled)
      ++unread;
    else
      row.state = "unreadable";
    return;
  }
  row.severity = "none";
  if (findings->rows() == 0) return;
  row.severity = table::text_or_empty(*findings, 0, "kind");
  row.mechanism = table::text_or_empty(*findings, 0, "mechanism");
  row.ranks = table::text_or_empty(*findings, 0, "ranks");
  if (const Value share = findings->at(0, findings->column("share")); !is_null(share))
    row.share = std::get<double>(share);
}

// Whether any answers. Errors: none does.
Result<void> add_agents(const Call& call, Answer& answer) {
  const World& world = call.world;
  TRY_ASSIGN(const FromAgents hosts, ask_agents(world, "/v1/hosts", call.patience));
  for (const std::string& name : world.agents->names()) {
    const bool is_up = std::ranges::any_of(hosts.hosts, [&](const auto& host) { return host.name == name; });
    append(answer.table, {.kind = "agent", .state = is_up ? "up" : "unreachable", .host = name});
  }
  answer.notes.insert(answer.notes.end(), hosts.notes.begin(), hosts.notes.end());
  return {};
}

// Open ones. The first of them is what to ask for next.
void add_incidents(const Call& call, Answer& answer) {
  const auto answers = ask_agents(call.world, "/v1/incidents", call.patience);
  if (!answers) return answer.notes.push_back(clean(answers.error().message));
  const Table all = merged("incidents", wire::incidents_columns(), *answers);
  for (size_t row = 0; row < all.rows(); ++row) {
    const auto text = [&](const char* name) { return std::string(table::text_or_empty(all, row, name)); };
    if (text("state") == "resolved") continue;
    append(answer.table, {.kind = "incident",
                          .job = text("job"),
                          .incident = text("id"),
                          .state = text("state"),
                          .severity = text("severity"),
                          .mechanism = text("mechanism"),
                          .ranks = text("suspects"),
                          .at = table::optional_integer(all, row, "opened")});
    if (answer.next.empty() && is_id(text("id")))
      answer.next.push_back({"get_incident", {{"id", text("id")}}});
  }
}

struct Worst {
  std::optional<Capture> capture;
  double share = -1;
  size_t faults = 0;  // captures with one
};

// Jobs by their newest captures, and those without.
Worst add_jobs(const Call& call, Answer& answer, std::map<std::string, RunningJob> running) {
  Worst worst;
  const auto known = call.world.traces->captures(call.patience);
  if (!known) answer.notes.push_back("captures: " + clean(known.error().message));
  const std::vector<Capture> captures = known.value_or(std::vector<Capture>());
  i64 budget = kReadAhead;
  size_t unread = 0;
  std::set<std::string> seen;
  for (const Capture& capture : captures) {
    // An older one of the same job. A folder is a job of its own.
    if (call.world.agents && !capture.job.empty() && !seen.insert(capture.job).second) continue;
    Row row{.kind = "job",
            .job = capture.job,
            .capture = capture.id,
            .state = capture.state,
            .processes = capture.files,
            .at = capture.at};
    if (const auto it = running.find(capture.job); it != running.end()) {
      row.step_ns = it->second.step_ns;
      running.erase(it);
    }
    add_finding(call, capture, budget, unread, row);
    worst.faults += row.severity == "fault";
    if (const double share = row.severity == "fault" ? 1 + row.share.value_or(0) : 0; share > worst.share)
      worst = {capture, share, worst.faults};
    append(answer.table, row);
    if (capture.at) answer.as_of = std::max(answer.as_of.value_or(0), *capture.at);
  }
  for (const auto& [job, now] : running)
    append(answer.table,
           {.kind = "job", .job = job, .state = "running", .processes = now.ranks, .step_ns = now.step_ns});
  if (unread > 0)
    answer.notes.push_back(fmt::format("{} not read yet: why_slow reads one", count_of(unread, "capture")));
  return worst;
}

// Which source is which kind's, as a sentence refers to it.
std::string cite(Answer& answer, Source source) {
  answer.sources.push_back(std::move(source));
  return fmt::format("[s{}]", answer.sources.size());
}

Result<Answer> overview(const Call& call) {
  const World& world = call.world;
  Answer answer{.table = Table("overview", kColumns), .limit = kUsualRows};
  Answer agents{.table = Table("overview", kColumns)};
  RunningJobs running;
  if (world.agents) {
    TRY(add_agents(call, agents));
    add_incidents(call, answer);
    running = running_jobs(world, call.patience);
    std::ranges::move(running.notes, std::back_inserter(answer.notes));
  }
  const Worst worst = add_jobs(call, answer, std::move(running.jobs));
  table::append(answer.table, agents.table);
  std::ranges::move(agents.notes, std::back_inserter(answer.notes));

  answer.version = digest_of_rows(answer.table);

  const size_t jobs = count_of_text(answer.table, "kind", "job");
  std::string of_jobs;
  if (worst.capture)
    of_jobs = cite(
        answer, {words_of(*worst.capture), "findings", analyze_command(*worst.capture, "--table findings")});
  if (world.agents) {
    const size_t incidents = count_of_text(answer.table, "kind", "incident");
    answer.sentence = fmt::format(
        "There {} {} {} and {} {}. ", incidents == 1 ? "is" : "are", count_of(incidents, "open incident"),
        cite(answer, {"the incidents of the agents", "incidents", agents_command(world, "incidents")}),
        count_of(agents.table.rows(), "agent"),
        cite(answer, {"the parts of the agents", "status", agents_command(world, "status")}));
    of_jobs += cite(answer, {"the jobs that the agents see", "metrics",
                             agents_command(world, "metrics --metric job_processes --metric step_ns")});
  }
  if (of_jobs.empty()) of_jobs = cite(answer, {"what may be asked of traces", "", "spotter analyses"});
  answer.sentence += fmt::format("There {} {} {}.", jobs == 1 ? "is" : "are", count_of(jobs, "job"), of_jobs);
  if (worst.share >= 1)
    answer.sentence +=
        worst.faults == 1
            ? fmt::format(" Something is at fault in the traces of capture {} [s1].", worst.capture->id)
            : fmt::format(" Something is at fault in the traces of {} captures, most in those of {} [s1].",
                          worst.faults, worst.capture->id);
  cite(answer, {"these rows", "overview", call_command(call, "overview")});
  if (worst.capture) answer.next.push_back({"why_slow", {{"capture", worst.capture->id}}});
  if (world.agents) answer.next.push_back({"list_incidents", {}});
  if (answer.next.empty()) answer.next.push_back({"describe", {{"name", "tables"}}});
  return answer;
}

}  // namespace

constexpr Tool kOverview = {
    .name = "overview",
    .title = "What there is",
    .description =
        "Open incidents, jobs with their newest captures and step times, agents and whether they answer. Ask this first. "
        "It does not explain: next is get_incident for an incident, why_slow for a job.",
    .params = {},
    .call = overview,
};

}  // namespace spotter::mcp
