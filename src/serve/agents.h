// Agents: those that the page shows beside traces. What is asked below /v1/hosts/HOST/ is passed on to the
// agent of that host, with the credentials of who runs the server, and its answer comes back as it is. HOST
// is one of the list; nothing else can be reached.
#pragma once
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/credentials.h"
#include "net/http/http_client.h"
#include "net/loop.h"
#include "serve/body.h"
#include "serve/desk.h"
#include "serve/guard.h"

namespace spotter::serve {

struct AgentsOptions {
  std::vector<net::HttpAddress> addresses;  // none: there are no agents to show
  client::Credentials credentials = {};
  std::string options = {};  // how a command on a terminal names them: "--host gpu[01-16]"
  std::string job = {};      // that the page shows first; empty: any
};

class Agents {
 public:
  Agents(net::Loop& loop, Desk& desk, AgentsOptions options, std::string_view own_name);
  ~Agents();
  Agents(const Agents&) = delete;
  Agents& operator=(const Agents&) = delete;

  // Whether what is at this path, without the server's base path, is of agents.
  static bool has(std::string_view path);
  // GET /v1/hosts: the table `hosts` (wire/columns.h), after a moment in which the agents may answer.
  // POST /v1/hosts/findings, {"captures": {HOST: ID, ...}}: what stands out in the traces of these captures
  // together, which the agents read where they are. Else what an agent is asked. At once or later.
  // `role`: of who asks; may_ask() (routes.h) has been seen to.
  void answer(std::string_view path, const net::HttpRequest& request, AccessRole role,
              net::HttpServer::Respond respond);

 private:
  struct Host {
    net::HttpAddress address;
    std::string name, word;  // word: the name as a part of a path
    // One question at a time goes by each.
    std::vector<std::unique_ptr<net::HttpClient>> idle;
    std::list<std::unique_ptr<net::HttpClient>> busy;
    // As it was when it was last asked.
    bool is_asked = false;
    std::string state = "asked", message;
    std::optional<Table> said;  // its own row of `hosts`

    void take(const Result<net::HttpAnswer>& http);
    // The lower of what the agent lets the server do, and the server who asks.
    Value role_for(AccessRole role) const;
  };
  struct Wait;
  struct Gathered;
  using Done = std::function<void(Result<net::HttpAnswer>)>;
  // What it returns takes the question back, whose answer is then not told.
  std::function<void()> ask(Host& host, net::HttpQuestion question, Ns patience, Done done);
  void list(const net::HttpRequest& request, AccessRole role, net::HttpServer::Respond respond);
  void ask_how_it_is(Host& host);
  void pass(Host& host, std::string_view path, const net::HttpRequest& request,
            net::HttpServer::Respond respond);
  Host* find(std::string_view name);
  void findings(const net::HttpRequest& request, net::HttpServer::Respond respond);
  Result<void> gather(const net::HttpRequest& request, const std::shared_ptr<Gathered>& gathered);
  void diagnose(const std::shared_ptr<Gathered>& gathered);
  static net::HttpAnswer answer_of(const Result<Body>& body, bool as_gzip);
  net::HttpAnswer listed(const Wait& wait) const;
  void tell(Wait& wait);

  net::Loop& loop_;
  Desk& desk_;
  const AgentsOptions options_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::list<std::shared_ptr<Wait>> waits_;
  size_t open_ = 0;  // hosts that are being asked how they are
};

}  // namespace spotter::serve
