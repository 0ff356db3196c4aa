// The page /metrics alone, for Prometheus.
#include "api/cross_site.h"
#include "api/http_door.h"
#include "api/list.h"
#include "api/metrics_page.h"
#include "base/log.h"

namespace spotter::api {
namespace {

Result<std::unique_ptr<Door>> open_metrics(const DoorSite& site) {
  if (!site.options.prometheus) return nullptr;
  const MetricsDoorOptions& door = *site.options.prometheus;
  const auto own_name = is_loopback(door.address) ? std::optional(site.agent.host_name) : std::nullopt;
  const auto answer = [&agent = site.agent, &doors = site.doors, own_name](
                          const net::HttpRequest& request, const net::HttpServer::Respond& respond) {
    ++doors.http_requests;
    respond(answer_metrics_door(agent.telemetry.latest(), agent.host.unix_now(), request, own_name));
  };
  TRY_ASSIGN(auto server,
             net::HttpServer::open_plain(site.loop, door.address, door.port, answer, http_error));
  const std::string place = fmt::format("{}:{}", door.address, server->port());
  log(Level::info, "prometheus on {}", place);
  return std::make_unique<HttpDoor>(std::move(server), place);
}

}  // namespace

const DoorKind kMetricsDoor = {
    .name = "prometheus", .closed = "no \"prometheus\" in its configuration", .open = open_metrics};

}  // namespace spotter::api
