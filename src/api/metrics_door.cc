// The page /metrics alone, for Prometheus.
#include "api/http_door.h"
#include "api/list.h"
#include "api/metrics_page.h"
#include "base/log.h"
#include "net/address.h"
#include "net/http/cross_site.h"

namespace spotter::api {
namespace {

constexpr const char* kPlace = "prometheus";
constexpr const char* kForAll = "prometheus_on_all_addresses_without_authentication";
constexpr u16 kUsualPort = 9464;

// Port 0: any free one. nullopt: off.
Result<std::optional<net::HttpAddress>> place_of(const std::string& word) {
  if (word == "off") return std::optional<net::HttpAddress>();
  constexpr std::string_view kAnyFree = ":0";  // which is no port to connect to
  const bool is_any_free = word.ends_with(kAnyFree);
  const std::string host = is_any_free ? word.substr(0, word.size() - kAnyFree.size()) : word;
  TRY_ASSIGN(net::HttpAddress address, net::parse_address(host, is_any_free ? u16{0} : kUsualPort));
  return std::optional(std::move(address));
}

Result<void> is_place(const std::string& word) {
  TRY(place_of(word));
  return {};
}

// What nobody asks who he is may not be for other hosts by mistake.
Result<void> check_who_may(const Settings& settings) {
  const std::string& word = settings.at(kPlace);
  TRY_ASSIGN(const auto place, place_of(word));
  if (!place || settings.at(kForAll) == "true" || place->host == "localhost" || net::is_loopback(place->host))
    return {};
  return fail(
      Code::invalid,
      "{} is not this machine alone, and \"prometheus\" asks nobody who he is: set "
      "prometheus_on_all_addresses_without_authentication in the configuration, or have Prometheus scrape "
      "/metrics of \"listen\" by TLS",
      place->host);
}

constexpr Setting kSettings[] = {
    {kPlace, "off", "Address and port where Prometheus may scrape /metrics; or off.", is_place},
    {kForAll, "false", "Whether it may be for other hosts, too; it asks nobody who he is.", is_flag},
};

Result<std::unique_ptr<Door>> open_metrics(const DoorSite& site) {
  TRY_ASSIGN(const auto place, place_of(site.settings.at(kPlace)));
  if (!place) return nullptr;
  const auto own_name = net::is_loopback(place->host) ? std::optional(site.agent.host_name) : std::nullopt;
  const auto answer = [&agent = site.agent, &doors = site.doors, own_name](
                          const net::HttpRequest& request, const net::HttpServer::Respond& respond) {
    ++doors.http_requests;
    const auto latest = agent.telemetry.latest();
    respond(
        answer_metrics_door({latest, agent.host.unix_now(), agent.telemetry.measures(), own_name}, request));
  };
  TRY_ASSIGN(auto server,
             net::HttpServer::open_plain(site.loop, place->host, place->port, answer, http_error));
  const std::string shown = fmt::format("{}:{}", place->host, server->port());
  log(Level::info, "prometheus on {}", shown);
  return std::make_unique<HttpDoor>(std::move(server), shown);
}

}  // namespace

const DoorKind kMetricsDoor = {.name = "prometheus",
                               .closed = "no \"prometheus\" in its configuration",
                               .settings = kSettings,
                               .check = check_who_may,
                               .open = open_metrics};

}  // namespace spotter::api
