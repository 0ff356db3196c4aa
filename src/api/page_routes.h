// The routes of the page (src/page) that the agent serves, and what it asks first: see routes.h.
#pragma once
#include <string_view>

#include "api/route.h"

namespace spotter::api {

// Whether what is there is the page, which holds no data: everybody may have it.
bool is_page_path(std::string_view path);

void page_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void licences_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void icon_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void hosts_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void jobs_route(const RouteCall& call, const net::HttpServer::Respond& respond);
void analyses_route(const RouteCall& call, const net::HttpServer::Respond& respond);

}  // namespace spotter::api
