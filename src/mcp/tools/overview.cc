// overview: what there is: open incidents, jobs with their newest captures, agents.
#include <algorithm>
#include <map>

#include "base/time.h"
#include "mcp/ask.h"
#include "mcp/list.h"
#include "mcp/record.h"
#include "table/ops.h"
#include "wire/columns.h"
#include "wire/incident_table.h"

namespace spotter::mcp {
namespace {

constexpr size_t kMostOfKind = 20;
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

void add_agents(const Call& call, Answer& answer, std::map<std::string, Row>& jobs) {
  const World& world = call.world;
  const auto hosts = ask_agents(world, "/v1/hosts");
  const std::vector<std::string> names = world.agents->names();
  for (size_t i = 0; i < std::min(names.size(), kMostOfKind); ++i) {
    const bool is_up =
        hosts && std::ranges::any_of(hosts->hosts, [&](const auto& host) { return host.name == names[i]; });
    append(answer.table, {.kind = "agent", .state = is_up ? "up" : "unreachable", .host = names[i]});
  }
  if (names.size() > kMostOfKind)
    answer.notes.push_back(fmt::format("{} further agents are left out", names.size() - kMostOfKind));
  if (!hosts) {
    answer.notes.push_back("no agent answers; start one, or say with --socket or --host where it is");
    return;
  }
  for (const std::string& note : hosts->notes) answer.notes.push_back(note);
  if (const auto processes = ask_agents(world, "/v1/processes")) {
    const Table all = merged("processes", wire::processes_columns(), *processes);
    for (size_t row = 0; row < all.rows(); ++row) {
      const std::string job(table::text_or_empty(all, row, "job"));
      if (job.empty() || table::text_or_empty(all, row, "role") == "helper") continue;
      Row& one = jobs[job];
      one.processes = one.processes.value_or(0) + 1;
      one.state = "running";
    }
    answer.sources.push_back(
        {"the processes that the agents know", "processes", agents_command(world, "ps")});
  }
  static constexpr Field kSteps[] = {{"job", Type::text, Unit::none, Role::key, "."},
                                     {"step_ns", Type::integer, Unit::ns, Role::value, "."}};
  if (const auto steps = ask_agents(world, "/v1/metrics?metric=step_ns")) {
    const Table all = merged("step", kSteps, *steps);
    for (size_t row = 0; row < all.rows(); ++row) {
      const auto job = jobs.find(std::string(table::text_or_empty(all, row, "job")));
      const auto step = table::optional_integer(all, row, "step_ns");
      if (job != jobs.end() && step) job->second.step_ns = std::max(job->second.step_ns.value_or(0), *step);
    }
  }
}

// Open ones. The first of them is what to ask for next.
void add_incidents(const Call& call, Answer& answer) {
  const auto answers = ask_agents(call.world, "/v1/incidents");
  if (!answers) return;
  const Table all = merged("incidents", wire::incidents_columns(), *answers);
  size_t open = 0;
  for (size_t row = 0; row < all.rows(); ++row) {
    const auto text = [&](const char* name) { return std::string(table::text_or_empty(all, row, name)); };
    if (text("state") == "resolved" || ++open > kMostOfKind) continue;
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
  if (open > kMostOfKind)
    answer.notes.push_back(
        fmt::format("{} further open incidents are left out; list_incidents has them", open - kMostOfKind));
  if (open > 0)
    answer.sources.push_back(
        {"the incidents of the agents", "incidents", agents_command(call.world, "incidents")});
}

struct Worst {
  std::string capture;
  double share = -1;
};

// Jobs by their captures, and those without.
Worst add_jobs(const Call& call, Answer& answer, std::map<std::string, Row> running) {
  Worst worst;
  const auto captures = call.world.traces->captures();
  if (!captures) {
    answer.notes.push_back("captures are not known: " + captures.error().message);
  } else {
    i64 budget = kReadAhead;
    size_t jobs = 0, unread = 0, left_out = 0;
    std::map<std::string, bool> seen;
    for (const Capture& capture : *captures) {
      if (!capture.job.empty() && std::exchange(seen[capture.job], true)) continue;  // an older one
      if (++jobs > kMostOfKind) {
        ++left_out;
        continue;
      }
      Row row{.kind = "job",
              .job = capture.job,
              .capture = capture.id,
              .state = capture.state,
              .processes = capture.files,
              .at = capture.at};
      if (const auto it = running.find(capture.job); it != running.end()) {
        row.processes = it->second.processes;
        row.step_ns = it->second.step_ns;
        running.erase(it);
      }
      add_finding(call, capture, budget, unread, row);
      const double share = row.severity == "fault" ? 1 + row.share.value_or(0) : 0;
      if (share > worst.share) worst = {capture.id, share};
      append(answer.table, row);
      if (jobs == 1 && !capture.paths.empty())
        answer.sources.push_back(
            {words_of(capture), "findings", analyze_command(capture, "--table findings")});
      if (capture.at) answer.as_of = std::max(answer.as_of.value_or(0), *capture.at);
    }
    if (unread > 0)
      answer.notes.push_back(fmt::format("{} not read yet: why_slow reads one", count_of(unread, "capture")));
    if (left_out > 0) answer.notes.push_back(fmt::format("{} further captures are left out", left_out));
  }
  for (auto& [job, row] : running) {
    row.kind = "job";
    row.job = job;
    append(answer.table, row);
  }
  return worst;
}

size_t count_of_kind(const Table& table, std::string_view kind) {
  size_t count = 0;
  for (size_t row = 0; row < table.rows(); ++row) count += table.text(row, 0) == kind;
  return count;
}

Result<Answer> overview(const Call& call) {
  Answer answer{.table = Table("overview", kColumns), .limit = 3 * kMostOfKind};
  std::map<std::string, Row> running;
  if (call.world.agents) add_incidents(call, answer);
  Answer agents{.table = Table("overview", kColumns)};
  if (call.world.agents) add_agents(call, agents, running);
  const Worst worst = add_jobs(call, answer, std::move(running));
  table::append(answer.table, agents.table);
  std::ranges::move(agents.sources, std::back_inserter(answer.sources));
  std::ranges::move(agents.notes, std::back_inserter(answer.notes));

  const size_t incidents = count_of_kind(answer.table, "incident"), jobs = count_of_kind(answer.table, "job");
  answer.sentence = fmt::format("There {} {}", jobs == 1 ? "is" : "are", count_of(jobs, "job"));
  if (call.world.agents)
    answer.sentence += fmt::format(", {} and {}", count_of(incidents, "open incident"),
                                   count_of(count_of_kind(answer.table, "agent"), "agent"));
  answer.sentence += worst.share > 1
                         ? fmt::format("; something is at fault in the traces of capture {}.", worst.capture)
                         : ".";
  if (!worst.capture.empty()) answer.next.push_back({"why_slow", {{"capture", worst.capture}}});
  if (call.world.agents) answer.next.push_back({"list_incidents", {}});
  if (answer.sources.empty())
    answer.sources.push_back({"what the agents say of themselves", "status",
                              agents_command(call.world, call.world.agents ? "status" : "analyses")});
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
