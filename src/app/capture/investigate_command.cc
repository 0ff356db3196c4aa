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

// Beside what else is asked. An agent without a history says nothing: of one sample nobody can tell.
std::future<std::vector<Table>> ask_for(const Hosts& hosts, const respond::Stretch& stretch) {
  wire::MetricsQuery query{
      .since = stretch.since, .until = stretch.until, .step = stretch.step, .rates = true};
  query.selection.metrics = respond::own_work_metrics();
  return std::async(std::launch::async, [&hosts, query]() -> std::vector<Table> {
    if (query.since == 0) return {};
    Result<Samples> samples = ask_agents(hosts, query);
    return samples ? std::move(samples->tables) : std::vector<Table>();
  });
}

// What was changed on these hosts lately: an agent knows its own host's.
std::future<Table> ask_for_changes(const Hosts& hosts) {
  return std::async(std::launch::async, [&hosts] {
    constexpr Ns kLately = 6 * kHour, kAhead = kMinute;  // clocks differ
    constexpr size_t kMostOfEach = 100;
    constexpr Ns kPatience = 10 * kSecond;
    std::vector<respond::Change> all;
    const Ns now = unix_clock_now();
    for (const auto& answer :
         client::ask_tables(hosts.addresses, hosts.credentials, {"GET", "/v1/changes", {}, {}}, kPatience)) {
      size_t of_this = 0;
      for (const Table& table : answer ? answer->tables : std::vector<Table>()) {
        for (respond::Change& change : wire::read_changes(table)) {
          const bool is_late = change.change.at > now - kLately && change.change.at < now + kAhead;
          if (is_late && of_this++ < kMostOfEach) all.push_back(std::move(change));
        }
      }
    }
    return wire::changes_table(all);
  });
}

// Whose processes recorded nothing.
std::set<i64> empty_ranks(const Table& receipts) {
  std::set<i64> ranks;
  for (size_t row = 0; row < receipts.rows(); ++row)
    if (const auto rank = table::optional_integer(receipts, row, "rank"))
      if (table::text_or_empty(receipts, row, "state") == capture::state_name(capture::State::empty))
        ranks.insert(*rank);
  return ranks;
}

struct InvestigateOptions {
  HostOptions where;
  bool wants_report = false, only_measured = false;
  i64 slow_since_ms = 0;  // Unix time; 0: not known
};

Result<int> investigate(const InvestigateOptions& options) {
  TRY_ASSIGN(const std::string text, standard_input());
  TRY_ASSIGN(const wire::CaptureRequest wish, wire::read_capture_request(text));
  TRY_ASSIGN(const Hosts hosts, find_hosts(options.where));
  const auto slow_for = [&] {
    return options.slow_since_ms == 0 ? 0 : unix_clock_now() - options.slow_since_ms * kMillisecond;
  };
  std::future<std::vector<Table>> before = ask_for(hosts, respond::stretch_before(slow_for()));
  std::future<Table> changes = options.where.is_local() ? std::future<Table>() : ask_for_changes(hosts);
  Table receipts("receipts", capture::receipt_columns());
  net::Loop loop;
  client::Fleet fleet(loop, options.only_measured ? std::vector<net::HttpAddress>() : hosts.addresses,
                      hosts.credentials);
  if (!options.only_measured) {
    fleet.begin(wish, [&] {
      if (fleet.is_over()) loop.stop();
    });
    loop.run();
    receipts = table::sort(fleet.receipts(), {{"rank"}, {"host"}, {"pid"}});
  }
  Notes notes = std::exchange(receipts.notes, {});
  // After the capture, which takes some seconds in which the job is slow.
  std::future<std::vector<Table>> now = ask_for(hosts, respond::slow_stretch(slow_for()));

  client::RemoteAnalysis files =
      client::analyze_where_written(fleet.members(), hosts.credentials, {}, diagnose::fact_request());
  for (const auto& [host, error] : files.missing)
    notes.add("not_analysed", Severity::loss,
              fmt::format("the traces of {} were not read: {}", host.shown(), to_printable(error.message)));
  std::vector<Table> tables = {receipts};
  if (!files.elsewhere.empty()) {
    diagnose::Request request;
    request.findings = true;
    const std::string folder = capture::folder_of(receipts);
    request.paths = folder;
    request.elsewhere = std::move(files.elsewhere);
    request.silent = empty_ranks(receipts);
    TRY_ASSIGN(diagnose::Diagnosis diagnosis, diagnose::run({}, std::move(request), read::load));
    notes.merge(diagnosis.notes);
    tables.push_back(*diagnosis.findings);
    tables.emplace_back("captured", kCaptured).append({diagnosis.facts.steps.count});
    if (options.wants_report) {
      if (const auto written = write_report(std::move(diagnosis), folder); !written)
        notes.add("no_report", Severity::loss,
                  fmt::format("there is no report of it: {}", to_printable(written.error().message)));
    }
  }
  tables.push_back(respond::measured(now.get(), before.get(), wish.job));
  if (changes.valid()) tables.push_back(changes.get());
  TRY(print(render::kJson, {tables, notes}));
  return 0;
}

}  // namespace

Command investigate_command() {
  const auto chosen = std::make_shared<InvestigateOptions>();
  std::vector<Option> options = host_options(chosen->where);
  options.push_back({.names = {"--report"},
                     .help = fmt::format("write a report in HTML to descriptor {}", net::Child::kFirstFile),
                     .read = set(chosen->wants_report)});
  options.push_back(
      {.names = {"--only-measured"}, .help = "trace nothing", .read = set(chosen->only_measured)});
  options.push_back(
      {.names = {"--slow-since"},
       .value = "MS",
       .help = "since when the job is slow, Unix time",
       .read = number(chosen->slow_since_ms, 0, std::numeric_limits<i64>::max() / kMillisecond)});
  return {
      .name = "investigate",  // without a summary: it is no command for people
      .options = std::move(options),
      .action = [chosen]() -> Result<int> { return investigate(*chosen); },
  };
}

}  // namespace spotter::app
