#include "api/change_routes.h"

#include "wire/change.h"

namespace spotter::api {
namespace {

Result<respond::Change> take(const RouteCall& call) {
  TRY_ASSIGN(respond::Change change, wire::read_change(call.http.body, call.agent.host.unix_now()));
  TRY(call.agent.incidents.add(call.peer, change));
  return change;
}

}  // namespace

void changes_route(const RouteCall& call, const net::HttpServer::Respond& respond) {
  api::answer(call, respond, wire::changes_table(call.agent.incidents.changes()));
}

void add_change_route(const RouteCall& call, const net::HttpServer::Respond& respond) {
  const auto change = told(call.agent, call.peer, call.http, take(call));
  if (!change) return respond(http_error(change.error()));
  api::answer(call, respond, wire::changes_table(std::span(&*change, 1)));
}

}  // namespace spotter::api
