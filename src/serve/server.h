// `spotter serve`: the page over the traces below some folders, and what it asks for, by HTTP:
//
//   GET  /                            the page; /licences, of what is in it
//   GET  /v1/jobs                     the jobs; ?wait_ms=N&seen=R answers when it is no more revision R
//   GET  /v1/jobs/ID                  a job, its facts and its ranks; with the same parameters
//   GET  /v1/jobs/ID/tables/NAME      as `spotter analyze --table NAME --format json` prints it; ?ranks=
//                                     &steps=, and its parameters by their names
//   GET  /v1/jobs/ID/spans?rank=R     the table spans of a rank; &from=&to=, ns from its trace's start
//   GET  /v1/jobs/ID/events/R/E       an event whole, and those that it is linked with
//   GET  /v1/jobs/ID/search?q=        names with a word in them; &ranks=&steps=
//   GET  /v1/jobs/ID/export           what `spotter export` writes; ?from=&to= (ns)&ranks=&steps=
//   GET  /v1/jobs/ID/report           the report, as `spotter analyze --format html` writes it; ?max_size=
//                                     &redact=1&source_url=&ranks=&steps=
//   GET  /v1/diff?before=ID&after=ID  what changed; &table=path_diff or causes, by_rank=1 ...
//   GET  /v1/analyses                 the records of all analyses
//   POST /mcp                         an assistant's message (mcp/endpoint.h)
//   GET  /v1/hosts                    the agents beside the traces; what is below /v1/hosts/HOST/ is asked of
//                                     that agent
//
// Answers are JSON, or x-spotter-columns (render/columns_binary.h) for who accepts that. Each has an ETag by
// the sizes and times of the job's files, the program and what is asked; who may ask is in guard.h,
// and for what a viewer may not in routes.h.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "mcp/endpoint.h"
#include "net/http/http.h"
#include "serve/agents.h"
#include "serve/desk.h"
#include "serve/guard.h"
#include "serve/job_list.h"
#include "serve/watch.h"

namespace spotter::serve {

struct ServeOptions {
  std::vector<std::string> roots;  // folders, or trace files
  AgentsOptions agents = {};       // that are shown beside them
  std::string address = "127.0.0.1";
  u16 port = 0;                          // 0: any free one
  std::string base_path;                 // "/prefix" below which all is; empty: none
  std::vector<std::string> other_names;  // Guard
  std::string perfetto_url;              // JobList
  std::string token;
  std::string view_token = {};    // Guard
  std::shared_ptr<net::Tls> tls;  // none: bare, and then only on loopback
  size_t cache_bytes = size_t{512} << 20;
};

struct RouteCall;

class Server {
 public:
  // Errors: not_found (a root), invalid (the address; equal tokens), denied (neither loopback nor TLS), io.
  static Result<std::unique_ptr<Server>> open(net::Loop& loop, ServeOptions options);
  ~Server();
  std::string url() const;       // of the page, with the token
  std::string view_url() const;  // with the one of viewers; empty where there is none

 private:
  friend struct Routes;
  Server(net::Loop& loop, ServeOptions options);
  void take(std::vector<JobPtr> jobs);
  std::shared_ptr<mcp::World> world() const;
  std::string url_with(std::string_view token) const;
  void answer(net::HttpRequest request, net::HttpServer::Respond respond);
  void refuse(const net::HttpRequest& request, const net::HttpServer::Respond& respond, const Error& why,
              int status);
  void log_refusal(const net::HttpRequest& request, const Error& why);

  net::Loop& loop_;
  const ServeOptions options_;
  const std::string program_;  // what of this program is in an ETag
  Guard guard_;
  JobList jobs_;
  Desk desk_;
  Agents agents_;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<net::HttpServer> http_;
  mcp::Endpoint assistants_;
  bool has_jobs_ = false;  // they were looked for once
  Ns lines_since_ = 0;     // of the log, a period's
  i64 lines_ = 0;
  std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);
};

}  // namespace spotter::serve
