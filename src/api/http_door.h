// A door of HTTP, whatever it is reached by.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "api/door.h"
#include "api/doors.h"
#include "api/routes.h"
#include "net/http/http.h"

namespace spotter::api {

class HttpDoor : public Door {
 public:
  HttpDoor(std::unique_ptr<net::HttpServer> server, std::string place)
      : server_(std::move(server)), place_(std::move(place)) {}
  size_t connections() const override { return server_->connections(); }
  i64 closed_for_room() const override { return server_->closed_for_room(); }
  std::string detail() const override { return "at " + place_; }

 private:
  std::unique_ptr<net::HttpServer> server_;
  std::string place_;
};

// All routes, for who asks as the kernel or the certificate says that he is.
inline auto answer_routes(const DoorSite& site) {
  return
      [&agent = site.agent, &doors = site.doors](net::HttpRequest request, net::HttpServer::Respond respond) {
        ++doors.http_requests;
        answer_http({agent, doors}, std::move(request), std::move(respond));
      };
}

}  // namespace spotter::api
