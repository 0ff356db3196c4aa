// The routes of incidents: what an agent's rules watch for, what they have found, and what people do about
// it. See routes.h.
#pragma once
#include "api/route.h"

namespace spotter::api {

void rules_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void incidents_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void incident_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void incident_history_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void incident_report_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void acknowledge_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void resolve_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void silences_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void silence_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void conditions_route(const RouteCall& call, const net::HttpServer::Respond& respond);

}  // namespace spotter::api
