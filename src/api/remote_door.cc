// The API by TLS, for other hosts.
#include "api/http_door.h"
#include "api/list.h"
#include "base/log.h"
#include "mcp/endpoint.h"

namespace spotter::api {
namespace {

Result<std::unique_ptr<Door>> open_remote(const DoorSite& site) {
  if (!site.options.remote) return nullptr;
  const RemoteDoorOptions& remote = *site.options.remote;
  TRY_ASSIGN(std::shared_ptr<net::Tls> tls, net::Tls::server(remote.tls));
  TRY_ASSIGN(auto server, net::HttpServer::open(site.loop, remote.address, remote.port, std::move(tls),
                                                answer_routes(site), http_error));
  server->trust([&agent = site.agent](const net::HttpRequest& head) {
    const agent::Peer peer = agent.access.remote(head.peer, head.authorization);
    const bool asks = head.target == mcp::Endpoint::kPath;  // whose messages may be larger than a question
    return agent.access.may(peer, asks ? agent::AccessRole::view : agent::AccessRole::trace).has_value();
  });
  const std::string place = fmt::format("{}:{}", remote.address, server->port());
  log(Level::info, "api for other hosts on {}", place);
  return std::make_unique<HttpDoor>(std::move(server), place);
}

}  // namespace

const DoorKind kRemoteDoor = {
    .name = "api for other hosts", .closed = "no \"listen\" in its configuration", .open = open_remote};

}  // namespace spotter::api
