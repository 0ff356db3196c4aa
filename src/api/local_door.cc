// The API on a UNIX socket, for the users of this host.
#include "api/http_door.h"
#include "api/list.h"

namespace spotter::api {
namespace {

class LocalDoor : public HttpDoor {
 public:
  LocalDoor(std::unique_ptr<net::HttpServer> server, const DoorSite& site)
      : HttpDoor(std::move(server), site.options.api_socket), doors_(site.doors) {}
  std::string detail() const override {
    return fmt::format("{}: {} requests", HttpDoor::detail(), doors_.http_requests);
  }

 private:
  const Doors& doors_;
};

Result<std::unique_ptr<Door>> open_local(const DoorSite& site) {
  TRY_ASSIGN(auto server,
             net::HttpServer::open(site.loop, site.options.api_socket, answer_routes(site), http_error));
  return std::make_unique<LocalDoor>(std::move(server), site);
}

}  // namespace

const DoorKind kLocalDoor = {.name = "api", .closed = "", .open = open_local};

}  // namespace spotter::api
