// What the routes of the API share (routes.h): a request as a route gets it, and the usual answers.
#pragma once
#include <string>

#include "agent/agent.h"
#include "api/routes.h"
#include "base/text/utf8.h"
#include "net/http/http.h"
#include "render/document.h"
#include "wire/target.h"

namespace spotter::api {

// Nothing of it lives longer than the call of the route but the agent and its doors.
struct RouteCall {
  agent::Agent& agent;
  const Doors& doors;
  const agent::Peer& peer;
  const net::HttpRequest& http;
  const wire::Target& target;
  std::string id;  // what stands in the place of {id}
};
// Answers at once or later, once. The role that the route needs has been seen to.
using RouteFunction = void (*)(const RouteCall&, const net::HttpServer::Respond&);

// How tables are sent: as JSON, or to the page as columns (render/columns_binary.h), by what a request
// accepts.
struct Form {
  bool as_columns = false, as_gzip = false;
};
Form form_of(const net::HttpRequest& http);

// Any thread.
net::HttpAnswer answer_of(const render::Document& document, Form form);
void answer(const RouteCall& call, const net::HttpServer::Respond& respond, const Table& table);

// Tables that are read elsewhere are rendered there, on any thread.
inline auto in_form_of(const RouteCall& call) {
  return [form = form_of(call.http)](const agent::Tables& tables) {
    return tables ? answer_of({*tables, {}}, form) : http_error(tables.error());
  };
}

// What the log says of a request that is refused before it is known what it is about.
template <class T>
Result<T> told(agent::Agent& agent, const agent::Peer& peer, const net::HttpRequest& http, Result<T> result) {
  constexpr size_t kShown = 100;
  const std::string asked = fmt::format("asks for {} {}", http.method, http.target.substr(0, kShown));
  if (!result) agent.audit.refused(peer, to_printable(asked), result.error());
  return result;
}

}  // namespace spotter::api
