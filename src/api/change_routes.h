// The routes of changes: what was made otherwise (wire/change.h). See routes.h.
#pragma once
#include "api/route.h"

namespace spotter::api {

void changes_route(const RouteCall& call, const net::HttpServer::Respond& respond);
// Answers with the change as it was understood.
void add_change_route(const RouteCall& call, const net::HttpServer::Respond& respond);

}  // namespace spotter::api
