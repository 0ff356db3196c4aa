#include "api/capture_routes.h"

#include "agent/captures/begin_capture.h"
#include "api/routes.h"
#include "base/text/number.h"
#include "base/text/printable_within.h"
#include "net/http/browser_headers.h"
#include "wire/analyze_request.h"
#include "wire/file_part.h"

namespace spotter::api {
namespace {

using Respond = net::HttpServer::Respond;

constexpr i64 kMostWaitMs = 60'000;

// The receipts with the capture's id and revision beside them.
net::HttpAnswer answer_about(agent::Agent& agent, const capture::Capture& capture, Form form,
                             const Notes& notes = {}) {
  const Table receipts = agent.captures.receipts(capture);
  const capture::Times now = agent.clock.now();
  const Ns remaining = std::max<Ns>(0, capture.accepted.steady + capture.deadline - now.steady);
  net::HttpAnswer answer = answer_of({std::span(&receipts, 1),
                                      notes,
                                      {{"capture", std::string_view(capture.id)},
                                       {"revision", capture.revision},
                                       {"unix_ms", now.unix_ms},
                                       {"remaining_ms", remaining / 1'000'000},
                                       {"over", capture.over()}}},
                                     form);
  if (!form.as_columns) answer.body.pop_back();  // the line's end, which answers about captures do without
  return answer;
}

// For the audit log: what the asker says of himself is his word alone.
std::string how_asked(const wire::CaptureRequest& asked) {
  constexpr size_t kShown = 200;
  std::string how = "POST /v1/captures";
  if (!asked.client.empty()) how += fmt::format(" by {}", printable_within(asked.client, kShown));
  if (!asked.reason.empty()) how += fmt::format(" because \"{}\"", printable_within(asked.reason, kShown));
  return how;
}

Result<net::HttpAnswer> begin(const RouteCall& call) {
  agent::Agent& agent = call.agent;
  TRY_ASSIGN(const wire::CaptureRequest asked, wire::read_capture_request(call.http.body));
  TRY_ASSIGN(agent::WantedCapture wanted, agent::wanted_capture(asked, agent.clock.now().unix_ms));
  TRY_ASSIGN(const agent::BegunCapture begun,
             agent::begin_capture(agent, call.peer, std::move(wanted), how_asked(asked)));
  return answer_about(agent, *agent.captures.find(begun.id), form_of(call.http), begun.notes);
}

Result<net::HttpAnswer> end(const RouteCall& call) {
  TRY(call.agent.control.end(call.peer, call.id));
  return answer_about(call.agent, *call.agent.captures.find(call.id), form_of(call.http));
}

Result<const capture::Capture*> wanted(const RouteCall& call) {
  const capture::Capture* capture = call.agent.captures.find(call.id);
  if (!capture) return fail(Code::not_found, "there is no capture of that id");
  return capture;
}

// Of those processes that the peer may trace. Errors: not_found (no file is written), denied (all are other
// users').
Result<std::vector<capture::Receipt>> written_for(const RouteCall& call, const capture::Capture& capture) {
  const auto& [agent, doors, peer, http, target, id] = call;
  std::vector<capture::Receipt> written;
  size_t foreign = 0;
  for (const capture::Receipt& receipt : capture.receipts) {
    if (receipt.state != capture::State::written) continue;
    kineto::Process process;  // it may have ended
    process.facts.pid = receipt.pid;
    process.facts.uid = receipt.uid;
    if (agent.access.may_trace(peer, process))
      written.push_back(receipt);
    else
      ++foreign;
  }
  if (written.empty() && foreign > 0)
    return told<std::vector<capture::Receipt>>(
        agent, peer, http, fail(Code::denied, "the {} files that were written are other users'", foreign));
  if (written.empty()) return fail(Code::not_found, "no file of the capture is written");
  return written;
}

Result<void> analyze(const RouteCall& call, const Respond& respond) {
  const auto& [agent, doors, peer, http, target, id] = call;
  TRY_ASSIGN(const capture::Capture* const capture, wanted(call));
  TRY(wire::read_analyze_request(http.body));
  TRY_ASSIGN(const std::vector<capture::Receipt> written, written_for(call, *capture));
  TRY(agent.analyses.start(peer.name, written, http.body, [respond](Result<std::string> text) {
    if (!text) return respond(http_error(text.error()));
    net::HttpAnswer answer{.body = std::move(*text)};
    net::add_browser_headers(net::kDataPolicy, answer);
    respond(std::move(answer));
  }));
  agent.audit.done(peer, fmt::format("has {} files of capture {} analysed", written.size(), id));
  return {};
}

// The bytes of the file that process `pid` has written, from byte `from` on.
Result<void> give_file(const RouteCall& call, const Respond& respond) {
  const auto& [agent, doors, peer, http, target, id] = call;
  constexpr std::string_view kNames[] = {"pid", "from"};
  TRY(target.has_only(kNames));
  const auto pid = number_in<i64>(target.text("pid"));
  const std::string at = target.text("from");
  const auto from = at.empty() ? 0 : number_in<i64>(at);
  if (!pid || !from) return fail(Code::invalid, "pid and from are whole numbers");
  TRY_ASSIGN(const capture::Capture* const capture, wanted(call));
  TRY_ASSIGN(std::vector<capture::Receipt> written, written_for(call, *capture));
  std::erase_if(written, [&](const capture::Receipt& receipt) { return receipt.pid != *pid; });
  if (written.empty())
    return fail(Code::not_found, "no process {} that you may trace has written a file in this capture", *pid);
  if (*from < 0 || *from >= written[0].size_bytes)
    return fail(Code::invalid, "the file has {} bytes, and none at {}", written[0].size_bytes, *from);
  written.resize(1);
  TRY(agent.analyses.start(
      peer.name, written, wire::file_part_text(*from), [respond](Result<std::string> bytes) {
        if (!bytes) return respond(http_error(bytes.error()));
        net::HttpAnswer answer{.body = std::move(*bytes), .content_type = "application/octet-stream"};
        net::add_browser_headers(net::kDataPolicy, answer);
        respond(std::move(answer));
      }));
  agent.audit.done(peer,
                   fmt::format("is given {} from byte {} on, of capture {}", written[0].file, *from, id));
  return {};
}

}  // namespace

void begin_route(const RouteCall& call, const Respond& respond) {
  auto begun = begin(call);
  respond(begun ? std::move(*begun) : http_error(begun.error()));
}

void end_route(const RouteCall& call, const Respond& respond) {
  auto ended = end(call);
  respond(ended ? std::move(*ended) : http_error(ended.error()));
}

void receipts_route(const RouteCall& call, const Respond& respond) {
  agent::Agent& agent = call.agent;
  const std::string& id = call.id;
  if (const auto capture = wanted(call); !capture) return respond(http_error(capture.error()));
  const Ns patience = std::clamp<i64>(call.target.number("wait_ms", 0), 0, kMostWaitMs) * 1'000'000;
  agent.waiters.when_changed(id, call.target.number("seen", -1), patience,
                             [&agent, id, respond, form = form_of(call.http)] {
                               const capture::Capture* capture = agent.captures.find(id);
                               if (!capture)
                                 return respond(http_error({Code::not_found, "the capture is forgotten"}));
                               respond(answer_about(agent, *capture, form));
                             });
}

void analyze_route(const RouteCall& call, const Respond& respond) {
  if (const Result<void> begun = analyze(call, respond); !begun) respond(http_error(begun.error()));
}

void file_route(const RouteCall& call, const Respond& respond) {
  if (const Result<void> begun = give_file(call, respond); !begun) respond(http_error(begun.error()));
}

}  // namespace spotter::api
