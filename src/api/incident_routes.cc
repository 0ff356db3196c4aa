#include "api/incident_routes.h"

#include "api/incident_tables.h"
#include "api/routes.h"
#include "base/gzip_writer.h"
#include "net/http/accepted.h"
#include "net/http/browser_headers.h"
#include "respond/rules_table.h"
#include "wire/incident.h"
#include "wire/incident_table.h"
#include "wire/report.h"
#include "wire/silence.h"

namespace spotter::api {
namespace {

using Respond = net::HttpServer::Respond;

net::HttpAnswer answer_of(const respond::Incident& incident) {
  net::HttpAnswer answer{200, wire::incident_text(incident) + "\n"};
  net::add_browser_headers(net::kDataPolicy, answer);
  return answer;
}

void answer(const Respond& respond, const Result<respond::Incident>& incident) {
  respond(incident ? answer_of(*incident) : http_error(incident.error()));
}

Result<respond::Silence> silence_of(const RouteCall& call) {
  TRY_ASSIGN(respond::Silence silence, wire::read_silence(call.http.body, call.agent.host.unix_now()));
  TRY(call.agent.incidents.silence(call.peer, silence));
  return silence;
}

}  // namespace

void rules_route(const RouteCall& call, const Respond& respond) {
  api::answer(call, respond, respond::rules_table(call.agent.options.respond.rules));
}

void incidents_route(const RouteCall& call, const Respond& respond) {
  api::answer(call, respond, wire::incidents_table(call.agent.incidents.all()));
}

void incident_route(const RouteCall& call, const Respond& respond) {
  answer(respond, call.agent.incidents.find(call.id));
}

// How people are told of it, and how it came to be as it is; what the disk has of that is read elsewhere.
void incident_history_route(const RouteCall& call, const Respond& respond) {
  const auto incident = call.agent.incidents.find(call.id);
  if (!incident) return respond(http_error(incident.error()));
  const auto read = [store = call.agent.incident_memory->shared_store(), id = call.id,
                     message = message_table(*incident, call.agent.host_name)]() -> agent::Tables {
    TRY_ASSIGN(const auto transitions, store->transitions(id));
    return std::vector{message, transitions_table(transitions)};
  };
  call.agent.incident_queries.ask(read, agent::asker(call.peer.name, in_form_of(call), respond));
}

// A file to be saved: as a page of this place it could ask the agent in the name of who looks at it.
void incident_report_route(const RouteCall& call, const Respond& respond) {
  const auto folder = told(call.agent, call.peer, call.http, call.agent.incidents.report(call.peer, call.id));
  if (!folder) return respond(http_error(folder.error()));
  const bool as_gzip = net::takes_gzip(call.http.accept_encoding);
  const auto read = [folder = *folder, id = call.id, as_gzip](const agent::Tables&) {
    auto page = folder->read(id);
    if (!page) return http_error(page.error());
    net::HttpAnswer answer{.body = std::move(*page), .content_type = "text/html; charset=utf-8"};
    net::add_browser_headers(net::kDataPolicy, answer);
    answer.headers.emplace_back("Content-Disposition", "attachment; filename=\"report.html\"");
    answer.headers.emplace_back("Vary", "Accept-Encoding");
    if (!as_gzip) return answer;
    if (Result<std::string> bytes = gzipped(answer.body)) {
      answer.body = std::move(*bytes);
      answer.content_encoding = "gzip";
    }
    return answer;
  };
  call.agent.incident_queries.ask([] { return agent::Tables(); },  // it is no table
                                  agent::asker(call.peer.name, read, respond));
}

void acknowledge_route(const RouteCall& call, const Respond& respond) {
  answer(respond,
         told(call.agent, call.peer, call.http, call.agent.incidents.acknowledge(call.peer, call.id)));
}

void resolve_route(const RouteCall& call, const Respond& respond) {
  answer(respond, told(call.agent, call.peer, call.http, call.agent.incidents.resolve(call.peer, call.id)));
}

void silences_route(const RouteCall& call, const Respond& respond) {
  api::answer(call, respond, wire::silences_table(call.agent.incidents.silences()));
}

void silence_route(const RouteCall& call, const Respond& respond) {
  const auto made = told(call.agent, call.peer, call.http, silence_of(call));
  if (!made) return respond(http_error(made.error()));
  api::answer(call, respond, wire::silences_table(call.agent.incidents.silences()));
}

void conditions_route(const RouteCall& call, const Respond& respond) {
  const auto take = [&]() -> Result<respond::ReportAnswer> {
    if (!call.agent.options.respond.is_on)
      return fail(Code::unsupported, "this agent does not watch jobs (respond: watch)");
    TRY_ASSIGN(const respond::Report report, wire::read_report(call.http.body));
    return call.agent.incidents.receive(call.peer, report);
  };
  const auto taken = told(call.agent, call.peer, call.http, take());
  if (!taken) return respond(http_error(taken.error()));
  net::HttpAnswer answer{200, wire::report_answer_text(*taken) + "\n"};
  net::add_browser_headers(net::kDataPolicy, answer);
  respond(std::move(answer));
}

}  // namespace spotter::api
