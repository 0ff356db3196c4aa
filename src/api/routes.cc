#include "api/routes.h"

#include <optional>

#include "agent/telemetry/tables.h"
#include "api/assistants.h"
#include "api/capture_routes.h"
#include "api/change_routes.h"
#include "api/hook_routes.h"
#include "api/incident_routes.h"
#include "api/metrics_page.h"
#include "api/page_routes.h"
#include "api/route.h"
#include "api/status.h"
#include "base/gzip_writer.h"
#include "net/http/accepted.h"
#include "net/http/browser_headers.h"
#include "net/http/cross_site.h"
#include "render/columns_binary.h"
#include "render/list.h"
#include "wire/error.h"
#include "wire/metrics_query.h"

namespace spotter::api {
namespace {

using Respond = net::HttpServer::Respond;

constexpr int kUnauthorized = 401, kNoSuchMethod = 405;

void prometheus_route(const RouteCall& call, const Respond& respond) {
  auto page = metrics_page(call.agent.telemetry.latest(), call.agent.host.unix_now(), call.http);
  respond(page ? std::move(*page) : http_error(page.error()));
}

// Of the samples. Who they are about is no secret to whoever may ask this agent at all, as in `ps`.
void metrics_route(const RouteCall& call, const Respond& respond) {
  const Result<wire::MetricsQuery> query = wire::read_metrics_query(call.target);
  if (!query) return respond(http_error(query.error()));
  call.agent.telemetry.query(*query, call.peer.name, in_form_of(call), respond);
}

// Of what the history knows beside samples; for the same people.
void catalogue_route(const RouteCall& call, const Respond& respond) {
  static constexpr std::string_view kParameters[] = {"table"};
  if (const auto known = call.target.has_only(kParameters); !known) return respond(http_error(known.error()));
  const auto which = store::parse_catalogue_table(call.target.text("table"));
  if (!which) return respond(http_error(within(which.error(), "table").value()));
  call.agent.telemetry.catalogue(*which, call.peer.name, in_form_of(call), respond);
}

void status_route(const RouteCall& call, const Respond& respond) {
  answer(call, respond, status_table(call.agent, call.doors));
}

void processes_route(const RouteCall& call, const Respond& respond) {
  call.agent.processes.refresh();
  answer(call, respond, agent::processes_table(call.agent));
}

void captures_route(const RouteCall& call, const Respond& respond) {
  answer(call, respond, agent::captures_table(call.agent));
}

struct Route {
  std::string_view method, path;  // in the place of {id}: anything without a slash
  agent::AccessRole role;         // needed
  RouteFunction act;
  bool knows_types = false;  // it looks at the type of a body itself
};
constexpr Route kRoutes[] = {
    {"GET", "/", agent::AccessRole::nobody, page_route},
    {"GET", "/licences", agent::AccessRole::nobody, licences_route},
    {"GET", "/favicon.ico", agent::AccessRole::nobody, icon_route},
    {"GET", "/v1/hosts", agent::AccessRole::view, hosts_route},
    {"GET", "/v1/jobs", agent::AccessRole::view, jobs_route},
    {"GET", "/v1/analyses", agent::AccessRole::view, analyses_route},
    {"GET", "/metrics", agent::AccessRole::view, prometheus_route},
    {"GET", "/v1/metrics", agent::AccessRole::view, metrics_route},
    {"GET", "/v1/catalogue", agent::AccessRole::view, catalogue_route},
    {"GET", "/v1/status", agent::AccessRole::view, status_route},
    {"GET", "/v1/processes", agent::AccessRole::view, processes_route},
    {"GET", "/v1/captures", agent::AccessRole::view, captures_route},
    {"POST", "/v1/captures", agent::AccessRole::trace, begin_route},
    {"GET", "/v1/captures/{id}", agent::AccessRole::view, receipts_route},
    {"DELETE", "/v1/captures/{id}", agent::AccessRole::view,
     end_route},  // CaptureControl::end() knows who may
    {"POST", "/v1/captures/{id}/analyze", agent::AccessRole::trace, analyze_route},
    {"GET", "/v1/captures/{id}/file", agent::AccessRole::trace, file_route},
    {"GET", "/v1/rules", agent::AccessRole::view, rules_route},
    {"GET", "/v1/incidents", agent::AccessRole::view, incidents_route},
    {"GET", "/v1/incidents/{id}", agent::AccessRole::view, incident_route},
    {"GET", "/v1/incidents/{id}/history", agent::AccessRole::view, incident_history_route},
    {"GET", "/v1/incidents/{id}/report", agent::AccessRole::view, incident_report_route},
    {"POST", "/v1/incidents/{id}/acknowledge", agent::AccessRole::trace, acknowledge_route},
    {"POST", "/v1/incidents/{id}/resolve", agent::AccessRole::trace, resolve_route},
    {"GET", "/v1/changes", agent::AccessRole::view, changes_route},
    {"POST", "/v1/changes", agent::AccessRole::trace, add_change_route},
    {"POST", "/v1/hooks/alertmanager", agent::AccessRole::trace, alertmanager_route},
    {"POST", "/v1/conditions", agent::AccessRole::trace, conditions_route},  // of other hosts' agents
    {"GET", "/v1/silences", agent::AccessRole::view, silences_route},
    {"POST", "/v1/silences", agent::AccessRole::trace, silence_route},
    {"POST", mcp::Endpoint::kPath, agent::AccessRole::view, mcp_route, true},
};

// What is in the place of {id}; empty where the pattern has none.
std::optional<std::string_view> matched(std::string_view pattern, std::string_view path) {
  constexpr std::string_view hole = "{id}";
  const size_t at = pattern.find(hole);
  if (at == pattern.npos) return pattern == path ? std::optional(std::string_view()) : std::nullopt;
  const std::string_view before = pattern.substr(0, at), after = pattern.substr(at + hole.size());
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) || !path.ends_with(after))
    return std::nullopt;
  const std::string_view id = path.substr(at, path.size() - before.size() - after.size());
  return id.find('/') == id.npos ? std::optional(id) : std::nullopt;
}

bool is_local(const net::HttpRequest& http) { return http.peer.address.empty(); }

agent::Peer peer_of(const agent::Agent& agent, const net::HttpRequest& http) {
  if (!is_local(http)) return agent.access.remote(http.peer, http.authorization);
  return agent.access.local(http.peer.uid, fmt::format("unix, process {}", http.peer.pid));
}

Result<void> may_ask(const agent::Agent& agent, const agent::Peer& peer, const net::HttpRequest& http,
                     const Route& route) {
  TRY(agent.access.may(peer, route.role));
  if (route.role == agent::AccessRole::nobody) return {};
  TRY(net::check_fetch(http, is_local(http) ? "http" : "https"));
  return route.method == "GET" || route.knows_types ? Result<void>() : net::check_type(http);
}

net::HttpAnswer no_such_route(const std::string& methods) {
  if (methods.empty()) return http_error({Code::not_found, "there is nothing of that name here"});
  net::HttpAnswer refusal =
      http_error({Code::unsupported, "what is of that name here is asked by " + methods});
  refusal.status = kNoSuchMethod;
  refusal.headers.emplace_back("Allow", methods);
  return refusal;
}

}  // namespace

net::HttpAnswer http_error(const Error& error) {
  net::HttpAnswer answer{wire::http_status(error.code), wire::error_text(error)};
  net::add_browser_headers(net::kDataPolicy, answer);
  return answer;
}

Form form_of(const net::HttpRequest& http) {
  return {.as_columns = net::names(http.accept, render::kColumnsType),
          .as_gzip = net::takes_gzip(http.accept_encoding)};
}

net::HttpAnswer answer_of(const render::Document& document, Form form) {
  net::HttpAnswer answer;
  net::add_browser_headers(net::kDataPolicy, answer);
  answer.headers.emplace_back("Vary", "Accept, Accept-Encoding");
  if (!form.as_columns) {
    answer.body = render::render(render::kJson, document);
    return answer;
  }
  answer.content_type = render::kColumnsType;
  answer.body = render::columns_binary(document);
  if (!form.as_gzip) return answer;
  if (Result<std::string> bytes = gzipped(answer.body)) {
    answer.body = std::move(*bytes);
    answer.content_encoding = "gzip";
  }
  return answer;
}

void answer(const RouteCall& call, const Respond& respond, const Table& table) {
  respond(answer_of({std::span(&table, 1), {}}, form_of(call.http)));
}

void answer_peer(const ApiSite& site, const agent::Peer& peer, const net::HttpRequest& request,
                 const Respond& respond) {
  agent::Agent& agent = site.agent;
  const wire::Target target(request.target);
  std::string methods;  // that the path knows
  for (const Route& route : kRoutes) {
    const auto id = matched(route.path, target.path);
    if (!id) continue;
    if (route.method != request.method) {
      methods += fmt::format("{}{}", methods.empty() ? "" : ", ", route.method);
      continue;
    }
    if (const auto may = told(agent, peer, request, may_ask(agent, peer, request, route)); !may)
      return respond(http_error(may.error()));
    return route.act({agent, site.doors, peer, request, target, wire::unescaped_segment(*id)}, respond);
  }
  respond(no_such_route(methods));
}

void answer_http(const ApiSite& site, net::HttpRequest request, Respond respond) {
  agent::Agent& agent = site.agent;
  const agent::Peer peer = peer_of(agent, request);
  if (!is_page_path(wire::Target(request.target).path)) {
    if (const auto may = told(agent, peer, request, agent.access.may(peer, agent::AccessRole::view)); !may) {
      net::HttpAnswer refusal = http_error(may.error());
      refusal.status = kUnauthorized;
      if (!is_local(request)) refusal.headers.emplace_back("WWW-Authenticate", "Bearer");
      return respond(refusal);
    }
  }
  if (is_local(request)) {
    if (const auto is = told(agent, peer, request, net::check_host(request, agent.host_name)); !is)
      return respond(http_error(is.error()));
  }
  answer_peer(site, peer, request, respond);
}

}  // namespace spotter::api
