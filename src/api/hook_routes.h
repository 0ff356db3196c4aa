// The routes by which alerts of other programs come in (wire/alert_frame.h). See routes.h.
#pragma once
#include "api/route.h"

namespace spotter::api {

// Answers with the table `alerts`, a row for each: what becomes of it, and why. The status is 202, or 503
// where there was no room for one of them: some senders try again after nothing else, not even after 429.
// What is sent again is taken once. What was refused for its rate is not asked for again: a storm would last
// for as long.
void alertmanager_route(const RouteCall& call, const net::HttpServer::Respond& respond);

}  // namespace spotter::api
