// investigate: what an agent runs for an incident: a capture of some ranks, what stands out in it, and what
// the agents of these ranks have measured meanwhile. The request (wire/capture_request.h) comes by standard
// input; the receipts, the findings, how many steps there are, what was measured and the notes go to standard
// output as JSON, and with --report a page of them to the descriptor that is open for it. The traces are read
// where they were written, by their owner's rights. With --only-measured nothing is traced.
#include <unistd.h>

#include <cerrno>
#include <future>
#include <memory>

#include "app/capture/hosts.h"
#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/readers.h"
#include "app/cli/standard_input.h"
#include "app/metrics/agent_samples.h"
#include "base/system/host.h"
#include "base/text/utf8.h"
#include "capture/capture.h"
#include "client/fleet.h"
#include "client/remote_analysis.h"
#include "diagnose/run.h"
#include "net/child.h"
#include "net/loop.h"
#include "read/open.h"
#include "render/list.h"
#include "report/html/html_report.h"
#include "respond/measured/measured.h"
#include "respond/measured/own_work.h"
#include "table/ops.h"
#include "wire/capture_request.h"
#include "wire/change.h"

namespace spotter::app {
namespace {

constexpr Field kCaptured[] = {
    {"steps", Type::integer, Unit::count, Role::value, "Steps that any rank has recorded."},
};

// Whole or not at all.
Result<void> write_report(diagnose::Diagnosis diagnosis, const std::string& folder) {
  TRY_ASSIGN(const std::string page,
             report::html_report(Job(), std::move(diagnosis), {}, read::load, {.paths = {folder}}));
  constexpr int kFile = net::Child::kFirstFile;
  for (size_t done = 0; done < page.size();) {
    const ssize_t n = write(kFile, page.data() + done, page.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int number = errno;
      (void)!ftruncate(kFile, 0);
      return fail(Code::io, "{}", errno_text(number));
    }
    done += static_cast<size_t>(n);
  }
  return {};
}

// Of the minute before. An agent without a history says nothing: of one sample nobody can tell.
Table measured_of(const Hosts& hosts, const std::string& job) {
  wire::MetricsQuery query{.since = respond::kMeasuredOver, .step = respond::kMeasuredEach, .rates = true};
  query.selection.metrics = respond::own_work_metrics();
  const Result<Samples> samples = ask_agents(hosts, std::move(query));
  return respond::measured(samples ? std::span<const Table>(samples->tables) : std::span<const Table>(), job);
}

// What was changed on these hosts lately: an agent knows its own host's.
Table changes_of(const Hosts& hosts) {
  constexpr Ns kLately = 6 * kHour;
  constexpr size_t kMostChanges = 1000;
  std::vector<respond::Change> changes;
  const Result<Samples> answers = ask_agents(hosts, "/v1/changes");
  const Ns now = unix_clock_now();
  for (const Table& table : answers ? answers->tables : std::vector<Table>()) {
    for (respond::Change& change : wire::read_changes(table)) {
      if (now - change.change.at < kLately && changes.size() < kMostChanges)
        changes.push_back(std::move(change));
    }
  }
  return wire::changes_table(changes);
}

Result<int> investigate(const HostOptions& where, bool wants_report, bool only_measured) {
  TRY_ASSIGN(const std::string text, standard_input());
  TRY_ASSIGN(const wire::CaptureRequest wish, wire::read_capture_request(text));
  TRY_ASSIGN(const Hosts hosts, find_hosts(where));
  if (only_measured) {
    std::vector<Table> tables = {Table("receipts", capture::receipt_columns()), measured_of(hosts, wish.job)};
    if (!where.is_local()) tables.push_back(changes_of(hosts));
    TRY(print(render::kJson, {tables, {}}));
    return 0;
  }
  std::future<Table> measured = std::async(std::launch::async, [&] { return measured_of(hosts, wish.job); });
  net::Loop loop;
  client::Fleet fleet(loop, hosts.addresses, hosts.credentials);
  fleet.begin(wish, [&] {
    if (fleet.is_over()) loop.stop();
  });
  loop.run();
  Table receipts = table::sort(fleet.receipts(), {{"rank"}, {"host"}, {"pid"}});
  Notes notes = std::exchange(receipts.notes, {});

  client::RemoteAnalysis files =
      client::analyze_where_written(fleet.members(), hosts.credentials, {}, diagnose::fact_request());
  for (const auto& [host, error] : files.missing)
    notes.add("not_analysed", Severity::loss,
              fmt::format("the traces of {} were not read: {}", host.shown(), to_printable(error.message)));
  std::vector<Table> tables = {receipts, measured.get()};
  if (!where.is_local()) tables.push_back(changes_of(hosts));
  if (!files.elsewhere.empty()) {
    diagnose::Request request;
    request.findings = true;
    const std::string folder = capture::folder_of(receipts);
    request.paths = folder;
    request.elsewhere = std::move(files.elsewhere);
    TRY_ASSIGN(diagnose::Diagnosis diagnosis, diagnose::run({}, std::move(request), read::load));
    notes.merge(diagnosis.notes);
    tables.push_back(*diagnosis.findings);
    tables.emplace_back("captured", kCaptured).append({diagnosis.facts.steps.count});
    if (wants_report) {
      if (const auto written = write_report(std::move(diagnosis), folder); !written)
        notes.add("no_report", Severity::loss,
                  fmt::format("there is no report of it: {}", to_printable(written.error().message)));
    }
  }
  TRY(print(render::kJson, {tables, notes}));
  return 0;
}

}  // namespace

Command investigate_command() {
  const auto where = std::make_shared<HostOptions>();
  const auto wants_report = std::make_shared<bool>(false), only_measured = std::make_shared<bool>(false);
  std::vector<Option> options = host_options(*where);
  options.push_back({.names = {"--report"},
                     .help = fmt::format("write a report in HTML to descriptor {}", net::Child::kFirstFile),
                     .read = set(*wants_report)});
  options.push_back({.names = {"--only-measured"}, .help = "trace nothing", .read = set(*only_measured)});
  return {
      .name = "investigate",  // without a summary: it is no command for people
      .options = std::move(options),
      .action = [where, wants_report, only_measured]() -> Result<int> {
        return investigate(*where, *wants_report, *only_measured);
      },
  };
}

}  // namespace spotter::app
