#include "api/assistants.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "api/doors.h"
#include "base/text/shell_word.h"
#include "mcp/agent_traces.h"

namespace spotter::api {
namespace {

constexpr size_t kMostReadings = 4;  // of captures, whose tables an agent keeps for one who asks

// The agent that this is, asked as if by its socket: on the loop's thread, with the rights of `peer`.
class OwnAgent : public mcp::Agents {
 public:
  OwnAgent(agent::Agent& agent, const Doors& doors, agent::Peer peer,
           std::function<void(std::function<void()>)> post, const std::atomic<bool>& ends)
      : agent_(agent),
        doors_(doors),
        peer_(std::move(peer)),
        post_(std::move(post)),
        ends_(ends),
        name_(agent.host_name) {}
  std::vector<std::string> names() const override { return {name_}; }
  std::string options() const override { return peer_.is_local ? "" : "--host " + shell_word(name_); }

  std::vector<Result<net::HttpAnswer>> ask(std::span<const size_t> which,
                                           std::span<const net::HttpQuestion> questions, Ns longest,
                                           const mcp::Patience& patience) const override {
    std::vector<Result<net::HttpAnswer>> answers;
    for (size_t i = 0; i < which.size(); ++i) answers.push_back(ask_one(questions[i], longest, patience));
    return answers;
  }

 private:
  struct Wait {
    std::mutex mutex;
    std::condition_variable is_there;
    std::optional<net::HttpAnswer> answer;
  };

  Result<net::HttpAnswer> ask_one(const net::HttpQuestion& question, Ns longest,
                                  const mcp::Patience& patience) const {
    const auto wait = std::make_shared<Wait>();
    net::HttpRequest request;
    request.method = question.method;
    request.target = question.target;
    request.body = question.body;
    request.content_type = request.accept = "application/json";
    request.when_gone = [](const std::function<void()>&) {};
    post_([&agent = agent_, &doors = doors_, peer = peer_, request = std::move(request), wait] {
      answer_peer({agent, doors}, peer, request, [wait](net::HttpAnswer answer) {
        const std::lock_guard lock(wait->mutex);
        wait->answer = std::move(answer);
        wait->is_there.notify_one();
      });
    });
    std::unique_lock lock(wait->mutex);
    const auto is_given_up = [&] { return ends_ || (patience.cancelled && *patience.cancelled); };
    for (Ns waited = 0; !wait->answer && waited < longest && !is_given_up(); waited += kLook)
      wait->is_there.wait_for(lock, std::chrono::nanoseconds(kLook));
    if (!wait->answer) return fail(Code::cancelled, "the agent did not answer in time");
    return std::move(*wait->answer);
  }

  static constexpr Ns kLook = 50'000'000;
  agent::Agent& agent_;
  const Doors& doors_;
  const agent::Peer peer_;
  const std::function<void(std::function<void()>)> post_;
  const std::atomic<bool>& ends_;
  const std::string name_;
};

}  // namespace

Assistants::Assistants(net::Loop& loop, agent::Agent& agent, const Doors& doors)
    : agent_(agent), doors_(doors), post_(loop.poster()), endpoint_(loop.poster()) {}

void Assistants::answer(const RouteCall& call, const net::HttpServer::Respond& respond) {
  const auto make = [&] {
    auto world = std::make_shared<mcp::World>();
    world->agents = std::make_unique<OwnAgent>(agent_, doors_, call.peer, post_, endpoint_.ends());
    world->traces = std::make_unique<mcp::AgentTraces>(*world->agents, kMostReadings);
    return world;
  };
  const std::string caller = fmt::format("{} {} {}", call.peer.name, static_cast<int>(call.peer.role),
                                         call.peer.only_uid.value_or(-1));
  endpoint_.answer(call.http, respond, caller, make);
}

void mcp_route(const RouteCall& call, const net::HttpServer::Respond& respond) {
  call.doors.assistants().answer(call, respond);
}

}  // namespace spotter::api
