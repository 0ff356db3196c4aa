#include "mcp/ask.h"

#include <algorithm>
#include <numeric>

#include "base/time.h"
#include "client/client.h"
#include "mcp/cells.h"
#include "mcp/record.h"
#include "table/ops.h"

namespace spotter::mcp {
namespace {

constexpr Ns kLongest = 5 * kSecond;  // a few of them are less than a call may take

Error no_agents() {
  return {Code::unsupported,
          "this server reads folders of traces and asks no agent; overview lists what it has"};
}

// The answers of all agents to one question.
std::vector<Result<std::string>> bodies(const Agents& agents, const net::HttpQuestion& question,
                                        const Patience& patience) {
  std::vector<size_t> which(agents.names().size());
  std::iota(which.begin(), which.end(), size_t{0});
  const std::vector<net::HttpQuestion> questions(which.size(), question);
  std::vector<Result<std::string>> all;
  for (Result<net::HttpAnswer>& http : agents.ask(which, questions, kLongest, patience))
    all.push_back(http ? client::body_of(std::move(*http)) : tl::unexpected(http.error()));
  return all;
}

// Names that may be those of a scheduler are said: others are a job's own text.
tl::unexpected<Error> no_job(const World& world, const std::string& job, std::span<const Capture> captures,
                             const Patience& patience) {
  constexpr size_t kMostNamed = 5;
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (is_id(name) && names.size() < kMostNamed && std::ranges::find(names, name) == names.end())
      names.emplace_back(name);
  };
  for (const Capture& capture : captures) add(capture.job);
  for (const auto& [name, row] : running_jobs(world, patience).jobs) add(name);
  return fail(Code::not_found,
              "there are no traces of {}{}; overview lists all jobs, and those with a capture have traces",
              is_id(job) ? "a job " + job : "such a job",
              names.empty() ? "" : fmt::format("; there are of {}", fmt::join(names, ", ")));
}

}  // namespace

Result<FromAgents> ask_agents(const World& world, const std::string& target, const Patience& patience) {
  if (!world.agents) return tl::unexpected(no_agents());
  const std::vector<std::string> names = world.agents->names();
  FromAgents answers;
  std::optional<Error> first;
  size_t missing = 0;
  const auto all = bodies(*world.agents, {"GET", target, {}, {}}, patience);
  for (size_t i = 0; i < all.size(); ++i) {
    auto tables = all[i] ? wire::read_tables(*all[i]) : tl::unexpected(all[i].error());
    if (!tables) {
      ++missing;
      if (!first) first = tables.error();
      continue;
    }
    for (Table& table : tables->tables) table.notes.merge(tables->notes);
    answers.hosts.push_back({names[i], std::move(tables->tables)});
  }
  if (answers.hosts.empty()) return tl::unexpected(first ? *first : no_agents());
  if (missing > 0)
    answers.notes.push_back(
        fmt::format("{} of {} agents did not answer, and are left out", missing, all.size()));
  return answers;
}

Table merged(std::string_view name, std::span<const Field> columns, const FromAgents& answers) {
  Table all(std::string(name), columns);
  std::vector<Value> row(columns.size());
  for (const FromAgents::Host& host : answers.hosts) {
    if (host.tables.empty()) continue;
    const Table& table = host.tables[0];
    std::vector<std::optional<size_t>> from;
    for (const Field& field : columns) {
      const auto it = std::ranges::find_if(table.schema(), [&](const Field& other) {
        return std::string_view(other.name) == field.name && other.type == field.type;
      });
      from.push_back(it == table.schema().end()
                         ? std::optional<size_t>()
                         : std::optional(static_cast<size_t>(it - table.schema().begin())));
    }
    for (size_t r = 0; r < table.rows(); ++r) {
      for (size_t c = 0; c < row.size(); ++c) row[c] = from[c] ? table.at(r, *from[c]) : Value();
      all.append(row);
    }
    all.notes.merge(table.notes);
  }
  return all;
}

RunningJobs running_jobs(const World& world, const Patience& patience) {
  static constexpr Field kJobs[] = {{"job", Type::text, Unit::none, Role::key, "Job."},
                                    {"rank", Type::integer, Unit::none, Role::key, "Rank."},
                                    {"step_ns", Type::integer, Unit::ns, Role::value, "A step."}};
  RunningJobs running;
  if (!world.agents) return running;
  for (const char* target : {"/v1/metrics?metric=job_processes", "/v1/metrics?metric=step_ns"}) {
    const auto answers = ask_agents(world, target, patience);
    if (!answers) {
      running.notes.push_back(clean(answers.error().message));
      continue;
    }
    const Table all = merged("jobs", kJobs, *answers);
    const bool counts_ranks = std::string_view(target).ends_with("processes");
    for (size_t row = 0; row < all.rows(); ++row) {
      const std::string name(table::text_or_empty(all, row, "job"));
      if (name.empty()) continue;
      RunningJob& job = running.jobs[name];
      if (counts_ranks && table::optional_integer(all, row, "rank")) job.ranks = job.ranks.value_or(0) + 1;
      if (const auto step = table::optional_integer(all, row, "step_ns"))
        job.step_ns = std::max(job.step_ns.value_or(0), *step);
    }
  }
  return running;
}

Result<std::string> ask_first(const World& world, const net::HttpQuestion& question,
                              const Patience& patience) {
  if (!world.agents) return tl::unexpected(no_agents());
  Error last{Code::not_found, "no agent was asked"};
  for (Result<std::string>& body : bodies(*world.agents, question, patience)) {
    if (body) return std::move(*body);
    if (last.code == Code::not_found) last = body.error();
  }
  return tl::unexpected(last);
}

std::string agents_command(const World& world, const std::string& command) {
  const std::string options = world.agents ? world.agents->options() : "";
  return fmt::format("spotter {}{}{} --format json", command, options.empty() ? "" : " ", options);
}

std::string analyze_command(const Capture& capture, const std::string& arguments) {
  return fmt::format("spotter analyze {} {} --format json", command_paths(capture.paths), arguments);
}

std::string call_command(const Call& call, std::string_view tool) {
  const std::string options = call.world.traces->options();
  return fmt::format("spotter mcp {}{}--call {} --arguments {}", options, options.empty() ? "" : " ", tool,
                     command_word(call.arguments.question()));
}

std::string words_of(const Capture& capture) {
  std::string words =
      fmt::format("capture {}, {}", capture.id, count_of(static_cast<size_t>(capture.files), "trace file"));
  if (!capture.host.empty()) words += " on host " + clean(capture.host);
  if (capture.at) words += ", " + time_text(*capture.at);
  return words;
}

Result<Capture> capture_of(const World& world, const std::string& id, const std::string& job,
                           const Patience& patience) {
  if (id.empty() == job.empty())
    return fail(Code::invalid, "give one of capture and job, as the rows of overview have them");
  TRY_ASSIGN(std::vector<Capture> captures, world.traces->captures(patience));
  const auto it = std::ranges::find_if(
      captures, [&](const Capture& capture) { return id.empty() ? capture.job == job : capture.id == id; });
  if (it != captures.end()) return std::move(*it);
  if (id.empty()) return no_job(world, job, captures, patience);
  return fail(Code::not_found, "there is no such capture; overview lists those that there are");
}

void add_notes(const Notes& notes, std::vector<std::string>& sentences) {
  for (const Note& note : notes.all())
    sentences.push_back(
        clean(note.count > 1 ? fmt::format("{} ({} times)", note.sentence, note.count) : note.sentence));
}

size_t count_of_text(const Table& table, const char* column, std::string_view text) {
  size_t count = 0;
  for (size_t row = 0; row < table.rows(); ++row) count += table::text_or_empty(table, row, column) == text;
  return count;
}

std::string percent(double ratio) { return fmt::format("{:.2g} %", ratio * 100); }

std::string count_of(size_t number, std::string_view one) {
  return fmt::format("{} {}{}", number, one, number == 1 || one == "series" ? "" : "s");
}

}  // namespace spotter::mcp
