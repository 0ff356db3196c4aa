#include "serve/agents.h"

#include <algorithm>
#include <map>

#include "base/gzip_writer.h"
#include "client/client.h"
#include "net/http/accepted.h"
#include "net/http/browser_headers.h"
#include "serve/routes.h"
#include "wire/columns.h"
#include "wire/target.h"

namespace spotter::serve {
namespace {

constexpr std::string_view kList = "/v1/hosts", kBelow = "/v1/hosts/", kFindings = "/v1/hosts/findings";
constexpr Ns kMoment = 400 * kMillisecond;  // in which agents that work have answered
constexpr Ns kHostPatience = 5 * kSecond, kPatience = 15 * kSecond, kAnalysisPatience = 180 * kSecond;
constexpr i64 kMostWaitMs = 60'000;
constexpr size_t kMostAtOnce = 32;  // questions to one agent
constexpr size_t kMostAnswer = size_t{64} << 20;
constexpr int kUnauthorized = 401, kForbidden = 403, kNotFound = 404, kBadGateway = 502;

// By what a host is called here: its name alone where that is one host's.
std::vector<std::string> names_of(const std::vector<net::HttpAddress>& addresses, std::string_view own_name) {
  std::map<std::string, int> known;
  for (const net::HttpAddress& a : addresses) ++known[a.host];
  std::vector<std::string> names;
  for (const net::HttpAddress& a : addresses)
    names.push_back(!a.socket.empty() ? std::string(own_name) : known[a.host] > 1 ? a.shown() : a.host);
  return names;
}

Ns patience_for(const net::HttpRequest& request) {
  const wire::Target target(request.target);
  if (request.method == "POST" && target.path.ends_with("/analyze")) return kAnalysisPatience;
  return kPatience + std::clamp<i64>(target.number("wait_ms", 0), 0, kMostWaitMs) * kMillisecond;
}

}  // namespace

struct Agents::Wait {
  explicit Wait(net::Loop& loop) : moment(loop) {}
  net::Timer moment;
  AccessRole role = AccessRole::view;
  Form form = Form::json;
  bool as_gzip = false;
  net::HttpServer::Respond respond;
};

void Agents::Host::take(const Result<net::HttpAnswer>& http) {
  message.clear();
  said.reset();
  if (!http) {
    state = http.error().code == Code::denied ? "denied" : "down";
    message = client::unreachable(address, http.error()).value().message;
    return;
  }
  state = "up";
  if (http->status == kNotFound) return;  // an agent of an older release
  if (http->status == kUnauthorized || http->status == kForbidden) state = "denied";
  Result<client::Answer> answer = client::read_answer(*http, wire::hosts_columns());
  if (answer && answer->table.rows() == 1) {
    said = std::move(answer->table);
    return;
  }
  if (state == "up") state = "down";
  message = answer ? "what answers there is no agent of this program" : answer.error().message;
}

// Of a viewer also where an agent of an older release does not tell.
Value Agents::Host::role_for(AccessRole role) const {
  if (role == AccessRole::view && (said || state == "up")) return std::string_view("view");
  return said ? said->at(0, said->column("role")) : Value();
}

Agents::Agents(net::Loop& loop, Desk& desk, AgentsOptions options, std::string_view own_name)
    : loop_(loop), desk_(desk), options_(std::move(options)) {
  const std::vector<std::string> names = names_of(options_.addresses, own_name);
  for (size_t i = 0; i < names.size(); ++i) {
    auto host = std::make_unique<Host>();
    host->address = options_.addresses[i];
    host->name = names[i];
    host->word = wire::escaped_parameter(names[i]);
    hosts_.push_back(std::move(host));
  }
}

Agents::~Agents() = default;

bool Agents::has(std::string_view path) { return path == kList || path.starts_with(kBelow); }

void Agents::answer(std::string_view path, const net::HttpRequest& request, AccessRole role,
                    net::HttpServer::Respond respond) {
  if (path == kList) {
    if (request.method == "GET") return list(request, role, std::move(respond));
    net::HttpAnswer refusal = error_answer({Code::unsupported, "what is of that name here is asked by GET"});
    refusal.status = 405;
    refusal.headers.emplace_back("Allow", "GET");
    return respond(std::move(refusal));
  }
  if (path == kFindings && request.method == "POST") return findings(request, std::move(respond));
  const std::string_view below = path.substr(kBelow.size());
  const size_t slash = std::min(below.find('/'), below.size());
  const std::string_view word = below.substr(0, slash);
  const auto host = std::ranges::find(hosts_, word, [](const auto& h) { return std::string_view(h->word); });
  if (host == hosts_.end() || slash == below.size())
    return respond(error_answer({Code::not_found, "there is no such host among those that are shown here"}));
  pass(**host, below.substr(slash), request, std::move(respond));
}

std::function<void()> Agents::ask(Host& host, net::HttpQuestion question, Ns patience, Done done) {
  if (host.busy.size() >= kMostAtOnce) {
    done(fail(Code::busy, "{} questions to {} are not answered yet", kMostAtOnce, host.name));
    return [] {};
  }
  if (host.idle.empty())
    host.idle.push_back(std::make_unique<net::HttpClient>(loop_, host.address, options_.credentials.tls));
  host.busy.push_back(std::move(host.idle.back()));
  host.idle.pop_back();
  const auto way = std::prev(host.busy.end());
  const auto is_open = std::make_shared<bool>(true);
  question.authorization = options_.credentials.authorization;
  question.most_answer = kMostAnswer;
  (*way)->ask(std::move(question), patience,
              [&host, way, is_open, done = std::move(done)](Result<net::HttpAnswer> http) {
                *is_open = false;
                host.idle.push_back(std::move(*way));
                host.busy.erase(way);
                done(std::move(http));
              });
  return [&host, way, is_open] {
    if (std::exchange(*is_open, false)) host.busy.erase(way);
  };
}

void Agents::list(const net::HttpRequest& request, AccessRole role, net::HttpServer::Respond respond) {
  auto wait = std::make_shared<Wait>(loop_);
  wait->role = role;
  wait->form = form_of(request.accept);
  wait->as_gzip = net::takes_gzip(request.accept_encoding);
  wait->respond = std::move(respond);
  waits_.push_back(wait);
  wait->moment.set(kMoment, [this, weak = std::weak_ptr(wait)] {
    if (const auto strong = weak.lock()) tell(*strong);
  });
  for (const auto& host : hosts_)
    if (!host->is_asked) ask_how_it_is(*host);
  if (hosts_.empty()) tell(*wait);
}

void Agents::ask_how_it_is(Host& host) {
  host.is_asked = true;
  ++open_;
  ask(host, {"GET", std::string(kList), {}, {}}, kHostPatience, [this, &host](Result<net::HttpAnswer> http) {
    host.is_asked = false;
    host.take(http);
    if (--open_ > 0) return;
    while (!waits_.empty()) tell(*waits_.front());
  });
}

void Agents::tell(Wait& wait) {
  const auto it = std::ranges::find(waits_, &wait, [](const auto& w) { return w.get(); });
  if (it == waits_.end()) return;
  const std::shared_ptr<Wait> kept = *it;
  waits_.erase(it);
  kept->moment.cancel();
  kept->respond(listed(*kept));
}

net::HttpAnswer Agents::answer_of(const Result<Body>& body, bool as_gzip) {
  const auto bytes = body && !as_gzip ? gunzipped(body->packed) : body.map(&Body::packed);
  if (!bytes) return error_answer(bytes.error());
  net::HttpAnswer answer{
      .body = *bytes, .content_type = body->content_type, .content_encoding = as_gzip ? "gzip" : ""};
  net::add_browser_headers(net::kDataPolicy, answer);
  answer.headers.emplace_back("Vary", "Accept, Accept-Encoding");
  return answer;
}

Agents::Host* Agents::find(std::string_view name) {
  const auto host = std::ranges::find(hosts_, name, [](const auto& h) { return std::string_view(h->name); });
  return host == hosts_.end() ? nullptr : host->get();
}

net::HttpAnswer Agents::listed(const Wait& wait) const {
  Table table("hosts", wire::hosts_columns());
  for (const auto& host : hosts_) {
    const std::string address = host->address.shown(), prefix = fmt::format("v1/hosts/{}/", host->word);
    const auto said = [&](const char* name) -> Value {
      return host->said ? host->said->at(0, host->said->column(name)) : Value();
    };
    table.append(
        {std::string_view(host->name), std::string_view(address),
         std::string_view(host->address.socket.empty() ? "remote" : "local"), std::string_view(host->state),
         host->role_for(wait.role), said("version"), said("uptime_ns"), said("failing"), said("history"),
         host->message.empty() ? Value() : Value(std::string_view(host->message)), std::string_view(prefix)});
  }
  render::Document document{std::span(&table, 1), {}, {{"job", std::string_view(options_.job)}}};
  // Who has the role view at an agent itself may not have files of captures read; here he may.
  if (wait.role == AccessRole::view) document.members.push_back({"viewer", true});
  return answer_of(body_of(document, wait.form), wait.as_gzip);
}

void Agents::pass(Host& host, std::string_view path, const net::HttpRequest& request,
                  net::HttpServer::Respond respond) {
  const size_t mark = std::min(request.target.find('?'), request.target.size());
  net::HttpQuestion question{
      request.method, fmt::format("/v1{}{}", path, request.target.substr(mark)), request.body, {}};
  const std::pair<const char*, const std::string&> headers[] = {{"Accept", request.accept},
                                                                {"Accept-Encoding", request.accept_encoding},
                                                                {"Content-Type", request.content_type}};
  for (const auto& [name, value] : headers)
    if (!value.empty()) question.headers.emplace_back(name, value);
  auto take_back =
      ask(host, std::move(question), patience_for(request), [&host, respond](Result<net::HttpAnswer> http) {
        if (!http) {
          const Error error = http.error().code == Code::busy
                                  ? http.error()
                                  : client::unreachable(host.address, http.error()).value();
          net::HttpAnswer answer = error_answer(error);
          if (error.code != Code::busy) answer.status = kBadGateway;
          return respond(std::move(answer));
        }
        net::HttpAnswer answer = std::move(*http);
        if (!answer.retry_after.empty()) answer.headers.emplace_back("Retry-After", answer.retry_after);
        net::add_browser_headers(net::kDataPolicy, answer);
        answer.headers.emplace_back("Vary", "Accept, Accept-Encoding");
        respond(std::move(answer));
      });
  request.when_gone(std::move(take_back));
}

}  // namespace spotter::serve
