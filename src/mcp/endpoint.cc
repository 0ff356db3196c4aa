#include "mcp/endpoint.h"

#include <algorithm>
#include <chrono>

#include "base/system/host.h"
#include "base/text/utf8.h"
#include "mcp/call_tool.h"
#include "mcp/headers.h"
#include "mcp/methods.h"
#include "mcp/times.h"
#include "net/http/accepted.h"
#include "net/http/browser_headers.h"
#include "wire/json.h"

namespace spotter::mcp {
namespace {

namespace json = boost::json;

constexpr int kAccepted = 202, kNoSuchMethod = 405, kNotAcceptable = 406, kTooLarge = 413, kWrongType = 415,
              kBusy = 503;
constexpr Ns kLongestWait = 2 * kSecond;  // for a turn
constexpr size_t kAtOnce = 4, kMostWaiting = 32, kMostCallers = 8;

net::HttpAnswer answer_of(int status, std::string body) {
  net::HttpAnswer answer{status, std::move(body)};
  net::add_browser_headers(net::kDataPolicy, answer);
  return answer;
}

net::HttpAnswer refusal(int status, int code, std::string why) {
  return answer_of(status, error_text(std::nullopt, {code, std::move(why)}));
}

bool takes_json(const std::string& accept) {
  if (accept.empty()) return true;
  const std::vector<net::Accepted> all = net::read_accepted(accept);
  for (const char* name : {"application/json", "application/*", "*/*"})  // the more specific one decides
    if (const auto it = std::ranges::find(all, name, &net::Accepted::name); it != all.end())
      return it->quality > 0;
  return false;
}

// What is refused before anybody looks at the message.
std::optional<net::HttpAnswer> check(const net::HttpRequest& request) {
  if (request.method != "POST") {
    net::HttpAnswer answer = refusal(kNoSuchMethod, kNoRequest, "messages are sent by POST");
    answer.headers.emplace_back("Allow", "POST");
    return answer;
  }
  std::string type = ascii_lower(request.content_type.substr(0, request.content_type.find(';')));
  while (type.ends_with(' ')) type.pop_back();
  if (type != "application/json") return refusal(kWrongType, kNoRequest, "a message is application/json");
  if (!takes_json(request.accept))
    return refusal(kNotAcceptable, kNoRequest, "the answer is application/json, which Accept does not have");
  if (request.body.size() > kMostHttpMessage)
    return refusal(kTooLarge, kNoRequest, fmt::format("a message has at most {} bytes", kMostHttpMessage));
  return std::nullopt;
}

// What the header of the version says: of a legacy client that has said `initialize` in another request.
Connection connection_of(const net::HttpRequest& request) {
  Connection connection{.is_initialized = true, .headers = &request.mcp};
  const auto version = header_in(request.mcp, "mcp-protocol-version");
  if (!version) {
    connection.legacy_version = kWithBatches;
  } else if (std::ranges::find(kLegacy, *version) != std::end(kLegacy)) {
    connection.legacy_version = *version;
  } else {
    connection.says_modern = true;
  }
  return connection;
}

}  // namespace

Endpoint::Endpoint(std::function<void(std::function<void()>)> post)
    : post_(std::move(post)),
      calls_(kAtOnce, kMostWaiting, [this](const std::shared_ptr<Job>& job) { act(job); }) {}

Endpoint::~Endpoint() { ends_ = true; }

std::shared_ptr<Endpoint::Caller> Endpoint::caller_of(const std::string& name, const MakeWorld& make) {
  auto it = std::ranges::find(callers_, name, [](const auto& caller) { return caller->name; });
  if (it == callers_.end()) {
    callers_.push_front(std::make_shared<Caller>());
    callers_.front()->name = name;
    callers_.front()->world = make();
    if (callers_.size() > kMostCallers) callers_.pop_back();
    return callers_.front();
  }
  callers_.splice(callers_.begin(), callers_, it);
  return callers_.front();
}

void Endpoint::answer(net::HttpRequest request, net::HttpServer::Respond respond, const std::string& caller,
                      const MakeWorld& make) {
  if (auto refused = check(request)) return respond(std::move(*refused));
  auto job = std::make_shared<Job>();
  job->request = std::move(request);
  job->connection = connection_of(job->request);
  job->caller = caller_of(caller, make);
  job->whose = job->caller.get();
  job->respond = std::move(respond);
  if (job->request.when_gone)
    job->request.when_gone([weak = std::weak_ptr(job)] {
      if (const auto strong = weak.lock()) strong->cancelled = true;
    });
  if (calls_.take(job)) return;
  net::HttpAnswer busy = refusal(kBusy, kOurs, "busy: ask again when others are answered");
  busy.headers.emplace_back("Retry-After", "1");
  job->respond(std::move(busy));
}

void Endpoint::act(const std::shared_ptr<Job>& job) {
  auto answer = std::make_shared<net::HttpAnswer>(made(*job));
  if (ends_) return;
  post_([job, answer] { job->respond(std::move(*answer)); });
}

// Waits a little for it.
bool Endpoint::has_turn(const Job& job) {
  const Ns until = steady_clock_now() + kLongestWait;
  while (!job.caller->pace.may(steady_clock_now())) {
    if (job.cancelled || steady_clock_now() > until) return false;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kLook));
  }
  return true;
}

net::HttpAnswer Endpoint::made(Job& job) {
  const Received received = read_messages(job.request.body, job.connection);
  std::vector<std::string> replies;
  int status = kFine;
  for (const auto& part : received.parts) {
    if (const auto* refused = std::get_if<std::string>(&part)) {
      replies.push_back(*refused);
      status = kBadRequest;
      continue;
    }
    const Message& message = std::get<Message>(part);
    if (is_slow(message) && !has_turn(job)) {
      replies.push_back(busy_text(
          message, job.connection,
          fmt::format("too many calls: {} a second at most; ask again in a second", Pace::kPerSecond)));
      continue;
    }
    const Patience patience{.cancelled = &job.cancelled};
    Reply reply = mcp::answer(message, {*job.caller->world, job.connection, patience});
    if (reply.text.empty()) continue;
    status = reply.http_status;
    replies.push_back(std::move(reply.text));
  }
  if (replies.empty()) return answer_of(kAccepted, {});
  return answer_of(received.is_batch ? kFine : status, together(replies, received.is_batch));
}

}  // namespace spotter::mcp
