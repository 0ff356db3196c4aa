#include "agent/incidents/investigation.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "net/memory_file.h"
#include "respond/rules/columns.h"
#include "wire/capture_request.h"
#include "wire/read_tables.h"

namespace spotter::agent {
namespace {

constexpr Ns kPatience = 2 * kMinute;             // beyond the capture, for files and their analysis
constexpr size_t kMostOutput = size_t{16} << 20;  // of each file
constexpr size_t kMostMemory = size_t{2} << 30;
constexpr size_t kMostDescriptors = 16'384;  // it asks all hosts of the job at once, and looks up their names

wire::CaptureRequest request_of(const InvestigationOrder& order) {
  wire::CaptureRequest request;
  request.job = order.job;
  request.ranks = order.ranks;
  request.pids = order.pids;
  request.duration_ms = order.plan.window / kMillisecond;
  request.warmup_ms = order.plan.warm_up / kMillisecond;
  request.start_time_ms = order.start_unix_ms;
  return request;
}

Result<Investigated> read(const std::string& output) {
  TRY_ASSIGN(wire::TablesAnswer answer, wire::read_tables(output));
  const auto named = [&](std::string_view name) {
    return std::ranges::find(answer.tables, name,
                             [](const Table& table) { return std::string_view(table.name()); });
  };
  const auto receipts = named("receipts"), findings = named("findings");
  if (receipts == answer.tables.end()) return fail(Code::corrupt, "the investigation told of no capture");
  Investigated investigated{.receipts = std::move(*receipts),
                            .findings = {},
                            .measured = {},
                            .changes = {},
                            .notes = std::move(answer.notes)};
  if (const auto captured = named("captured"); captured != answer.tables.end() && captured->rows() == 1) {
    constexpr const char* kSteps[] = {"steps"};
    respond::Columns columns(kSteps);
    columns.find(*captured);
    investigated.steps = columns.integer(0, 0).value_or(0);
  }
  for (const Note& note : investigated.notes.all()) {
    if (note.kind == "no_report") investigated.why_no_report = note.sentence;
  }
  if (findings != answer.tables.end()) investigated.findings = std::move(*findings);
  if (const auto measured = named("measured"); measured != answer.tables.end())
    investigated.measured = std::move(*measured);
  if (const auto changes = named("changes"); changes != answer.tables.end())
    investigated.changes = std::move(*changes);
  return investigated;
}

}  // namespace

Result<std::unique_ptr<Investigation>> Investigation::start(net::Loop& loop, const InvestigationOrder& order,
                                                            std::function<void(Result<Investigated>)> done) {
  std::vector<std::string> command = {order.program, "investigate"};
  if (order.hosts.empty()) {
    command.insert(command.end(), {"--socket", order.socket});
  } else {
    command.insert(command.end(), {"--host", fmt::format("{}", fmt::join(order.hosts, ",")), "--credentials",
                                   order.credentials});
  }
  if (order.slow_since != 0)
    command.insert(command.end(), {"--slow-since", std::to_string(order.slow_since / kMillisecond)});
  if (order.only_measured) command.emplace_back("--only-measured");
  const auto report = std::make_shared<Descriptor>();
  net::ChildOrder child{
      .command = std::move(command),
      .input = wire::capture_request_text(request_of(order)),
      .files = {},
      .uid = {},
      .time = order.plan.warm_up + order.plan.window + kPatience,
      .output_bytes = kMostOutput,
      .memory_bytes = kMostMemory,
      .descriptors_more = kMostDescriptors,
  };
  if (order.wants_report) {
    child.command.emplace_back("--report");
    TRY_ASSIGN(*report, net::memory_file("report"));
    child.files.emplace_back(fcntl(report->fd, F_DUPFD_CLOEXEC, 0));
  }
  auto investigation = std::make_unique<Investigation>();
  TRY_ASSIGN(investigation->child_,
             net::Child::start(loop, child, [report, done = std::move(done)](Result<std::string> output) {
               Result<Investigated> investigated = output ? read(*output) : tl::unexpected(output.error());
               if (investigated && report->fd >= 0)
                 investigated->report = net::contents(*report, 0, kMostOutput);
               done(std::move(investigated));
             }));
  return investigation;
}

}  // namespace spotter::agent
