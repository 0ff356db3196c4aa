#include "agent/incidents/investigation.h"

#include <algorithm>
#include <utility>

#include "wire/capture_request.h"
#include "wire/read_tables.h"

namespace spotter::agent {
namespace {

constexpr Ns kPatience = 2 * kMinute;  // beyond the capture, for files and their analysis
constexpr size_t kMostOutput = size_t{16} << 20;
constexpr size_t kMostMemory = size_t{2} << 30;

wire::CaptureRequest request_of(const InvestigationOrder& order) {
  wire::CaptureRequest request;
  request.job = order.job;
  request.ranks = order.ranks;
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
  Investigated investigated{
      .receipts = std::move(*receipts), .findings = {}, .notes = std::move(answer.notes)};
  if (findings != answer.tables.end()) investigated.findings = std::move(*findings);
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
  const net::ChildOrder child{
      .command = std::move(command),
      .input = wire::capture_request_text(request_of(order)),
      .files = {},
      .uid = {},
      .time = order.plan.warm_up + order.plan.window + kPatience,
      .output_bytes = kMostOutput,
      .memory_bytes = kMostMemory,
  };
  auto investigation = std::make_unique<Investigation>();
  TRY_ASSIGN(investigation->child_,
             net::Child::start(loop, child, [done = std::move(done)](Result<std::string> output) {
               done(output ? read(*output) : tl::unexpected(output.error()));
             }));
  return investigation;
}

}  // namespace spotter::agent
