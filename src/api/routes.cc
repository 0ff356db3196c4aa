#include "api/routes.h"

#include <optional>

#include "api/analyze_request.h"
#include "api/capture_request.h"
#include "api/json.h"
#include "api/metrics_page.h"
#include "api/metrics_query.h"
#include "api/tables.h"
#include "api/target.h"
#include "base/utf8.h"
#include "render/render.h"

namespace spotter::api {
namespace {

namespace json = boost::json;
using Respond = net::HttpServer::Respond;

constexpr i64 kMostWaitMs = 60'000;
constexpr int kUnauthorized = 401;

// Any thread: tables are rendered where they were read.
net::HttpAnswer answer_of(const Telemetry::Tables& tables) {
  return tables ? net::HttpAnswer{200, render(*find_format("json"), *tables, {})}
                : http_error(tables.error());
}

// Of the samples. Who they are about is no secret to whoever may ask this agent at all, as in `ps`.
void metrics(Agent& agent, const Target& target, const Respond& respond) {
  const Result<MetricsQuery> query = read_metrics_query(target);
  if (!query) return respond(http_error(query.error()));
  agent.telemetry().query(*query, answer_of, respond);
}

// Of what the history knows beside samples; for the same people.
void catalogue(Agent& agent, const Target& target, const Respond& respond) {
  const auto which = store::parse_catalogue_table(std::string(target.text("table")));
  if (!which) return respond(http_error(within(which.error(), "table").value()));
  agent.telemetry().catalogue(*which, answer_of, respond);
}

std::string json_of(const Table& table, const Notes& notes = {}) {
  return render(*find_format("json"), std::span(&table, 1), notes);
}

// The receipts with the capture's id and revision beside them.
std::string json_of(Agent& agent, const capture::Capture& capture, const Notes& notes = {}) {
  std::string text = json_of(agent.captures().receipts(capture), notes);
  const Ns remaining = std::max<Ns>(0, capture.accepted.steady + capture.deadline - agent.now().steady);
  const json::object more{{"capture", capture.id},
                          {"revision", capture.revision},
                          {"unix_ms", agent.now().unix_ms},
                          {"remaining_ms", remaining / 1'000'000},
                          {"over", capture.over()}};
  while (text.back() != '}') text.pop_back();
  text.back() = ',';
  return text + json::serialize(more).substr(1);
}

// Why no process is a target.
std::string why_none(Agent& agent, const kineto::Target& target) {
  const size_t registered = agent.registry().all().size();
  if (registered == 0)
    return "no process is registered: is KINETO_USE_DAEMON=1 set where the training processes start, and do they "
           "share this host's network namespace (or KINETO_IPC_SOCKET_DIR)?";
  kineto::Target with_helpers = target;
  with_helpers.helpers = true;
  if (const size_t helpers = agent.registry().matching(with_helpers).size(); helpers > 0)
    return fmt::format("only launchers and workers match ({} of them); \"all\" takes them, too", helpers);
  return fmt::format("{} processes are registered, but none matches; `spotter ps` lists them", registered);
}

Peer peer_of(const Agent& agent, const net::HttpRequest& http) {
  if (!http.peer.address.empty()) return agent.access().remote(http.peer, http.authorization);
  return agent.access().local(http.peer.uid, fmt::format("unix, process {}", http.peer.pid));
}

// What the log says of a request that is refused before it is known what it is about.
template <class T>
Result<T> told(Agent& agent, const Peer& peer, const net::HttpRequest& http, Result<T> result) {
  constexpr size_t kShown = 100;
  const std::string asked = fmt::format("asks for {} {}", http.method, http.target.substr(0, kShown));
  if (!result) agent.refused(peer, to_printable(asked), result.error());
  return result;
}

Result<std::string> begin(Agent& agent, const Peer& peer, const net::HttpRequest& http) {
  TRY(told(agent, peer, http, agent.access().may(peer, AccessRole::trace)));
  TRY_ASSIGN(CaptureRequest wanted, read_capture_request(http.body, agent.now().unix_ms));
  const std::vector<std::string>& directories = agent.access().directories();
  if (wanted.request.output.empty())
    wanted.request.output = directories.empty() ? "/tmp" : directories.front();
  kineto::Target everyone = wanted.target;
  everyone.helpers = true;
  i64 helpers = 0, foreign = 0;
  for (const kineto::Process* process : agent.registry().matching(everyone)) {
    // A pid that was named is meant, whatever it is.
    const auto& named = wanted.target.pids;
    const bool by_name = std::find(named.begin(), named.end(), process->facts.pid) != named.end();
    if (!by_name && !kineto::matches(*process, wanted.target))
      ++helpers;
    else if (!by_name && !agent.access().may_trace(peer, *process))
      ++foreign;
    else
      wanted.request.pids.push_back(process->facts.pid);
  }
  if (wanted.request.pids.empty() && foreign > 0)
    return told<std::string>(agent, peer, http,
                             fail(Code::denied, "the {} processes that match are other users'", foreign));
  if (wanted.request.pids.empty()) return fail(Code::not_found, "{}", why_none(agent, wanted.target));
  TRY_ASSIGN(const std::string id, agent.begin_capture(peer, wanted.request, "POST /v1/captures"));
  Notes notes;
  if (helpers > 0)
    notes.add("helpers", Severity::info, "launchers and workers match and are skipped", -1, helpers);
  if (foreign > 0)
    notes.add("other_users", Severity::info, "processes of other users match and are skipped", -1, foreign);
  if (wanted.request.config.memory)
    notes.add("memory_events", Severity::info, "as of PyTorch 2.13 a trace on demand has no memory events");
  if (wanted.request.config.flops)
    notes.add("flops", Severity::info, "as of PyTorch 2.13 a trace on demand does not say the FLOPs");
  return json_of(agent, *agent.captures().find(id), notes);
}

Result<std::string> end(Agent& agent, const Peer& peer, const std::string& id) {
  TRY(agent.end_capture(peer, id));
  return json_of(agent, *agent.captures().find(id));
}

void receipts(Agent& agent, const Target& target, const std::string& id, const Respond& respond) {
  if (!agent.captures().find(id))
    return respond(http_error({Code::not_found, "there is no capture of that id"}));
  const Ns patience = std::clamp<i64>(target.number("wait_ms", 0), 0, kMostWaitMs) * 1'000'000;
  agent.when_changed(id, target.number("seen", -1), patience, [&agent, id, respond] {
    const capture::Capture* capture = agent.captures().find(id);
    if (!capture) return respond(http_error({Code::not_found, "the capture is forgotten"}));
    respond({200, json_of(agent, *capture)});
  });
}

// Of the files of those processes that the peer may trace.
Result<void> analyze(Agent& agent, const Peer& peer, const net::HttpRequest& http, const std::string& id,
                     const Respond& respond) {
  TRY(told(agent, peer, http, agent.access().may(peer, AccessRole::trace)));
  const capture::Capture* capture = agent.captures().find(id);
  if (!capture) return fail(Code::not_found, "there is no capture of that id");
  TRY(read_analyze_request(http.body));
  std::vector<capture::Receipt> written;
  size_t foreign = 0;
  for (const capture::Receipt& receipt : capture->receipts) {
    if (receipt.state != capture::State::written) continue;
    kineto::Process process;  // it may have ended
    process.facts.pid = receipt.pid;
    process.facts.uid = receipt.uid;
    if (agent.access().may_trace(peer, process))
      written.push_back(receipt);
    else
      ++foreign;
  }
  if (written.empty() && foreign > 0)
    return told<void>(agent, peer, http,
                      fail(Code::denied, "the {} files that were written are other users'", foreign));
  if (written.empty()) return fail(Code::not_found, "no file of the capture is written");
  TRY(agent.analyses().start(written, http.body, [respond](Result<std::string> text) {
    respond(text ? net::HttpAnswer{200, std::move(*text)} : http_error(text.error()));
  }));
  log(Level::info, "audit: {} ({}) has {} files of capture {} analysed", to_printable(peer.name), peer.from,
      written.size(), id);
  return {};
}

int status_of(Code code) {
  switch (code) {
    case Code::not_found:
      return 404;
    case Code::invalid:
    case Code::corrupt:
    case Code::unsupported:
      return 400;
    case Code::denied:
      return 403;
    case Code::busy:
      return 409;
    case Code::io:
    case Code::cancelled:
    case Code::internal:
      break;
  }
  return 500;
}

}  // namespace

net::HttpAnswer http_error(const Error& error) {
  return {status_of(error.code),
          json::serialize(json::object{
              {"error", {{"code", code_name(error.code)}, {"message", to_valid_utf8(error.message)}}}})};
}

void answer_http(Agent& agent, net::HttpRequest request, Respond respond) {
  const Target target(request.target);
  const auto is = [&](std::string_view method, std::string_view path) {
    return request.method == method && target.path == path;
  };
  const auto answer = [&](const Result<std::string>& text) {
    respond(text ? net::HttpAnswer{200, *text} : http_error(text.error()));
  };
  const Peer peer = peer_of(agent, request);
  if (const auto may = told(agent, peer, request, agent.access().may(peer, AccessRole::view)); !may) {
    net::HttpAnswer refusal = http_error(may.error());
    refusal.status = kUnauthorized;
    return respond(refusal);
  }
  constexpr std::string_view captures = "/v1/captures";
  if (is("GET", "/metrics"))
    return respond(metrics_page(agent.telemetry().latest(), agent.host().unix_now(), request.accept,
                                request.accept_encoding));
  if (is("GET", "/v1/metrics")) return metrics(agent, target, respond);
  if (is("GET", "/v1/catalogue")) return catalogue(agent, target, respond);
  if (is("GET", "/v1/status")) return answer(json_of(status_table(agent)));
  if (is("GET", "/v1/processes")) {
    agent.refresh_processes();
    return answer(json_of(processes_table(agent)));
  }
  if (is("POST", captures)) return answer(begin(agent, peer, request));
  if (target.path.starts_with("/v1/captures/")) {
    const std::string id(target.path.substr(captures.size() + 1));
    if (request.method == "GET") return receipts(agent, target, id, respond);
    if (request.method == "DELETE") return answer(end(agent, peer, id));
    constexpr std::string_view analyze_end = "/analyze";
    if (request.method == "POST" && id.ends_with(analyze_end)) {
      const Result<void> begun =
          analyze(agent, peer, request, id.substr(0, id.size() - analyze_end.size()), respond);
      return begun ? void() : respond(http_error(begun.error()));
    }
  }
  respond(http_error({Code::not_found, "there is nothing of that name and method here"}));
}

}  // namespace spotter::api
