// Assistants: who asks by POST /mcp what the routes of this agent answer, with the rights of whoever asks.
#pragma once
#include "api/route.h"
#include "mcp/endpoint.h"

namespace spotter::api {

class Assistants {
 public:
  Assistants(net::Loop& loop, agent::Agent& agent, const Doors& doors);
  void answer(const RouteCall& call, const net::HttpServer::Respond& respond);

 private:
  agent::Agent& agent_;
  const Doors& doors_;
  std::function<void(std::function<void()>)> post_;
  mcp::Endpoint endpoint_;  // the last: what it runs asks the others
};

void mcp_route(const RouteCall& call, const net::HttpServer::Respond& respond);

}  // namespace spotter::api
