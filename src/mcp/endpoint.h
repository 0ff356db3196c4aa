// Endpoint: POST /mcp, behind whichever door: one message a request, its answer as JSON, no streams and no
// sessions. Who may ask at all, and from which site, the door has seen to.
//
// Made, asked and ended on a loop's thread; answers are made on threads of its own, at low priority.
#pragma once
#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "mcp/calls.h"
#include "mcp/dispatcher.h"
#include "mcp/pace.h"
#include "net/http/http.h"

namespace spotter::mcp {

class Endpoint {
 public:
  static constexpr std::string_view kPath = "/mcp";
  // What is asked for whom: made at his first question, and kept while he is among the last few.
  using MakeWorld = std::function<std::shared_ptr<World>()>;

  explicit Endpoint(std::function<void(std::function<void()>)> post);  // to the loop, from any thread
  ~Endpoint();  // what is under way is cancelled, and waited for
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // `caller`: equal for who has equal rights and one pace.
  void answer(net::HttpRequest request, net::HttpServer::Respond respond, const std::string& caller,
              const MakeWorld& make);
  // Whether it ends: who waits in a tool for something else gives up.
  const std::atomic<bool>& ends() const { return ends_; }

 private:
  struct Caller {
    std::string name;
    std::shared_ptr<World> world;
    Pace pace;
  };
  struct Job : Cancellable {
    net::HttpRequest request;
    Connection connection;
    std::shared_ptr<Caller> caller;
    net::HttpServer::Respond respond;
  };
  std::shared_ptr<Caller> caller_of(const std::string& name, const MakeWorld& make);
  void act(const std::shared_ptr<Job>& job);
  static bool has_turn(const Job& job);
  net::HttpAnswer made(Job& job);

  std::function<void(std::function<void()>)> post_;
  std::list<std::shared_ptr<Caller>> callers_;  // the last one first
  std::atomic<bool> ends_ = false;
  Calls<Job> calls_;
};

}  // namespace spotter::mcp
