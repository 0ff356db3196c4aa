// The routes by which alerts of other programs come in (wire/alert_frame.h). See routes.h.
#pragma once
#include "api/route.h"

namespace spotter::api {

// Answers 202 with the table `alerts`, a row for each: what becomes of it, and why. Who sent it tries again
// after a 503 alone, so that is what is answered where there is no room; never 429.
void alertmanager_route(const RouteCall& call, const net::HttpServer::Respond& respond);

}  // namespace spotter::api
