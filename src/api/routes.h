// The HTTP API: each route a method and a path, answers as tables in JSON (render/), or as columns for the
// page that is served beside it (page_routes.h).
//
//   GET  /, /licences        the page, for everybody: it holds no data
//   GET  /v1/hosts           this host, in a row, as the page asks for those that it shows
//   GET  /v1/jobs, /v1/analyses   of traces, which the page shows elsewhere: none
//   GET  /metrics            the newest samples, for Prometheus; ?collect[]=NAME (metrics_page.h)
//   GET  /v1/metrics         samples, new ones or of the history (metrics_query.h)
//   GET  /v1/catalogue       what the history knows beside samples: ?table=jobs, captures, events or series
//   GET  /v1/status          how the agent is
//   GET  /v1/processes       the processes that poll it
//   GET  /v1/captures        the captures that it knows, the newest first
//   POST /v1/captures        begins a capture; the body says of what (capture_request.h)
//   GET  /v1/captures/ID     its receipts; ?wait_ms=N&seen=R answers when they changed since revision R
//   DELETE /v1/captures/ID   ends it, and answers its receipts
//   POST /v1/captures/ID/analyze   runs analyses of its files here (analyze_request.h -> file_results.h)
//   GET  /v1/captures/ID/file   the file that process ?pid=P has written, from byte ?from=N on: at most 4 MiB
//                               (file_part.h), as often as it takes to the size_bytes of its receipt
//   GET  /v1/changes         what was made otherwise in the last 30 days, the newest first
//   POST /v1/changes         that something was (wire/change.h)
//   POST /v1/hooks/alertmanager  alerts of Alertmanager or Grafana (alert_frame.h)
//   GET  /v1/rules           what is watched for, with the thresholds in use
//   GET  /v1/incidents       what is wrong, or was in the last day; /v1/incidents/ID: one, as a record
//   GET  /v1/incidents/ID/report   its newest capture as a page of HTML, a file to save
//   POST /v1/conditions      what the agent of another host sees of a job that both have (wire/report.h)
//   GET  /v1/incidents/ID/history   how people are told of it, and how it came to be as it is
//   POST /v1/incidents/ID/acknowledge, /resolve   what a person does about it
//   GET, POST /v1/silences   what is told nobody for a while (silence.h)
//   POST /mcp                an assistant's message (mcp/endpoint.h)
//
// Another method on one of these paths is answered 405, with those that there are in Allow. Who may is in
// access.h; what a browser may be made to ask, in net/http/cross_site.h.
#pragma once
#include "agent/agent.h"
#include "net/http/http.h"

namespace spotter::api {

class Doors;

// Whom the routes answer for.
struct ApiSite {
  agent::Agent& agent;
  const Doors& doors;
};

// Answers who asks by a door: he is who the kernel, his certificate or his token says.
void answer_http(const ApiSite& site, net::HttpRequest request, net::HttpServer::Respond respond);
// Answers a peer that is known already, such as a part of the agent itself (Access::own), which has no
// socket.
void answer_peer(const ApiSite& site, const agent::Peer& peer, const net::HttpRequest& request,
                 const net::HttpServer::Respond& respond);
// {"error": {"code", "message"}} with the status that belongs to the code.
net::HttpAnswer http_error(const Error& error);

}  // namespace spotter::api
