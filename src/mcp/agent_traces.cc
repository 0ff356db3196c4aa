#include "mcp/agent_traces.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/stable_sort.h"
#include "base/time.h"
#include "capture/capture.h"
#include "client/client.h"
#include "mcp/record.h"
#include "table/ops.h"
#include "wire/analyze_request.h"
#include "wire/columns.h"
#include "wire/file_results.h"
#include "wire/target.h"

namespace spotter::mcp {
namespace {

constexpr Ns kLongest = 5 * kSecond, kLongestAnalysis = 110 * kSecond;
constexpr Ns kTogether = 10 * kSecond;  // captures of one job on several hosts begin within

std::vector<size_t> all_of(const Agents& agents) {
  std::vector<size_t> which(agents.names().size());
  std::iota(which.begin(), which.end(), size_t{0});
  return which;
}

}  // namespace

Result<std::vector<std::vector<AgentTraces::Part>>> AgentTraces::parts(const Patience& patience) const {
  const std::vector<size_t> which = all_of(agents_);
  const std::vector<net::HttpQuestion> questions(which.size(), {"GET", "/v1/captures", {}, {}});
  std::vector<Part> all;
  std::optional<Error> failed;
  size_t answered = 0;
  auto answers = agents_.ask(which, questions, kLongest, patience);
  for (size_t host = 0; host < answers.size(); ++host) {
    const auto answer = answers[host]
                            ? client::read_answer(std::move(*answers[host]), wire::captures_columns())
                            : tl::unexpected(answers[host].error());
    if (!answer) {
      failed = answer.error();
      continue;
    }
    ++answered;
    const Table& table = answer->table;
    const auto text = [&](size_t row, const char* name) {
      return std::string(table::text_or_empty(table, row, name));
    };
    for (size_t row = 0; row < table.rows(); ++row)
      all.push_back({host, text(row, "id"), text(row, "state"), text(row, "job"), text(row, "output"),
                     table::optional_integer(table, row, "began_ns").value_or(0),
                     table::optional_integer(table, row, "written").value_or(0)});
  }
  if (answered == 0 && failed) return tl::unexpected(*failed);
  stable_sort(all, [](const Part& one, const Part& other) { return one.began > other.began; });
  std::vector<std::vector<Part>> together;
  for (Part& part : all) {
    const auto goes_with = [&](const std::vector<Part>& one) {
      return !part.job.empty() && one[0].job == part.job && one[0].began - part.began < kTogether &&
             std::ranges::none_of(one, [&](const Part& other) { return other.host == part.host; });
    };
    const auto it = std::ranges::find_if(together, goes_with);
    if (it == together.end())
      together.push_back({std::move(part)});
    else
      it->push_back(std::move(part));
  }
  return together;
}

Capture AgentTraces::capture_of(const std::vector<Part>& parts) const {
  const std::vector<std::string> names = agents_.names();
  Capture capture{.id = parts[0].id, .job = parts[0].job, .state = parts[0].state, .at = parts[0].began};
  std::vector<std::string> hosts;
  for (const Part& part : parts) {
    capture.files += part.written;
    capture.version += fmt::format("{}:{}:{}:{};", part.host, part.id, part.state, part.written);
    hosts.push_back(names[part.host]);
    if (std::ranges::find(capture.paths, part.output) == capture.paths.end())
      capture.paths.push_back(part.output);
  }
  std::ranges::sort(hosts);
  for (const std::string& host : hosts) capture.host += (capture.host.empty() ? "" : ", ") + host;
  return capture;
}

Result<std::vector<Capture>> AgentTraces::captures(const Patience& patience) {
  TRY_ASSIGN(const auto all, parts(patience));
  std::vector<Capture> captures;
  for (const std::vector<Part>& one : all)
    if (is_id(one[0].id)) captures.push_back(capture_of(one));
  return captures;
}

Result<diagnose::Diagnosis> AgentTraces::diagnose(const Capture& capture, diagnose::Request request) {
  const Patience patience{.cancelled = request.run.cancelled};
  TRY_ASSIGN(const auto all, parts(patience));
  const auto it =
      std::ranges::find_if(all, [&](const std::vector<Part>& one) { return one[0].id == capture.id; });
  if (it == all.end())
    return fail(Code::not_found, "the capture is gone; overview lists those that there are");
  // Findings are made from facts, tables from their own maps: not both from what other hosts have mapped.
  const bool wants_findings = std::exchange(request.findings, false);
  std::optional<Table> findings;
  Notes notes;
  const auto mapped = [&](const analyze::RunRequest& run) -> Result<std::vector<analyze::FileResult>> {
    std::vector<size_t> which;
    std::vector<net::HttpQuestion> questions;
    for (const Part& part : *it) {
      which.push_back(part.host);
      net::HttpQuestion question{"POST",
                                 "/v1/captures/" + wire::escaped_parameter(part.id) + "/analyze",
                                 wire::analyze_request_text(run),
                                 {},
                                 wire::kMostResultsBytes};
      question.headers.emplace_back("Content-Type", "application/json");
      questions.push_back(std::move(question));
    }
    std::vector<analyze::FileResult> files;
    std::optional<Error> failed;
    for (auto& http : agents_.ask(which, questions, kLongestAnalysis, patience)) {
      auto text = http ? client::body_of(std::move(*http)) : tl::unexpected(http.error());
      auto results = text ? wire::read_file_results(*text, run.analyses) : tl::unexpected(text.error());
      if (!results) {
        failed = results.error();
        notes.add("host_missing", Severity::loss,
                  "traces of hosts whose agents did not analyse them are left out");
        continue;
      }
      std::ranges::move(*results, std::back_inserter(files));
    }
    if (files.empty())
      return failed ? tl::unexpected(without_names(*failed))
                    : fail(Code::not_found, "no process has written a trace of this capture");
    return files;
  };
  if (wants_findings) {
    diagnose::Request facts{.findings = true, .paths = request.paths};
    TRY_ASSIGN(facts.elsewhere, mapped(diagnose::fact_request()));
    TRY_ASSIGN(diagnose::Diagnosis made, diagnose::run({}, std::move(facts), {}));
    findings = std::move(made.findings);
    notes.merge(made.notes);
  }
  TRY_ASSIGN(request.elsewhere, mapped(request.run));
  TRY_ASSIGN(diagnose::Diagnosis made, diagnose::run({}, std::move(request), {}));
  made.findings = std::move(findings);
  made.notes.merge(notes);
  return made;
}

Result<diagnose::Diff> AgentTraces::compare(const Capture&, const Capture&, diagnose::DiffRequest) {
  return fail(
      Code::unsupported,
      "the traces of agents' captures are compared where they are: `spotter diff` on their host, or `spotter mcp FOLDER` over copies");
}

}  // namespace spotter::mcp
