// The routes of captures: see routes.h.
#pragma once
#include "api/route.h"

namespace spotter::api {

void begin_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void receipts_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void end_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void analyze_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void file_route(const RouteCall& call, const net::HttpServer::Respond& respond);

}  // namespace spotter::api
