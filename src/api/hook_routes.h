// The routes by which alerts of other programs come in (wire/alert_frame.h). See routes.h.
#pragma once
#include "api/route.h"

namespace spotter::api {

// Answers with the table `alerts`, a row for each: what becomes of it, and why. The status is 202, or 503
// where one of them is to be sent again: of senders some try again after nothing else, not even 429. Those
// that were taken are taken once however often they come.
void alertmanager_route(const RouteCall& call, const net::HttpServer::Respond& respond);

}  // namespace spotter::api
