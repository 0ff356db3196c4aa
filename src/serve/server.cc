#include "serve/server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/text/utf8.h"
#include "base/time.h"
#include "base/version.h"
#include "mcp/agent_traces.h"
#include "mcp/asked_agents.h"
#include "net/http/browser_headers.h"
#include "net/http/cross_site.h"
#include "serve/folder_traces.h"
#include "serve/routes.h"
#include "serve/table_order.h"
#include "serve/token.h"

namespace spotter::serve {
namespace {

constexpr int kUnauthorized = 401;
constexpr size_t kMostHeldBytes = size_t{1} << 30;  // of answers that are being sent

// The version, and the program itself: one that was built anew may answer otherwise.
std::string program_mark() {
  struct stat info{};
  ::stat("/proc/self/exe", &info);
  return fmt::format("{} {} {}", kVersion, info.st_size,
                     info.st_mtim.tv_sec * kSecond + info.st_mtim.tv_nsec);
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

Result<void> check_roots(const std::vector<std::string>& roots) {
  for (const std::string& root : roots) {
    struct stat info;
    if (::stat(root.c_str(), &info) != 0) return fail(Code::not_found, "{}: {}", root, errno_text(errno));
    if (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode))
      return fail(Code::invalid, "{}: neither a folder nor a trace file", root);
  }
  return {};
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

Server::Server(net::Loop& loop, ServeOptions options)
    : loop_(loop),
      options_(std::move(options)),
      program_(program_mark()),
      guard_{options_.token, options_.view_token, options_.tls ? "https" : "http", host_name(), {}},
      jobs_(loop, options_.perfetto_url),
      desk_(loop, kAtOnce, options_.cache_bytes),
      agents_(loop, desk_, options_.agents, guard_.own_name),
      assistants_(loop.poster()) {
  for (const std::string& name : options_.other_names) guard_.other_names.push_back(ascii_lower(name));
  loop_.bytes().set_most(kMostHeldBytes);
}

Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::open(net::Loop& loop, ServeOptions options) {
  if (options.address == "localhost") options.address = "127.0.0.1";
  if (!options.tls && !net::is_loopback(options.address))
    return fail(Code::denied, "{} is not on loopback: others need TLS to reach it (--certificate, --key)",
                options.address);
  if (!options.view_token.empty() && is_same_token(options.token, options.view_token))
    return fail(
        Code::invalid,
        "the token of --view-token-file is that of --token-file: who may only look needs another one");
  TRY(check_roots(options.roots));
  for (std::string& root : options.roots) root = without_slashes(std::move(root));
  std::unique_ptr<Server> server(new Server(loop, std::move(options)));
  Server* const self = server.get();
  const auto handle = [self](net::HttpRequest request, net::HttpServer::Respond respond) {
    self->answer(std::move(request), std::move(respond));
  };
  const ServeOptions& o = server->options_;
  if (o.tls) {
    TRY_ASSIGN(server->http_, net::HttpServer::open(loop, o.address, o.port, o.tls, handle, error_answer));
  } else {
    TRY_ASSIGN(server->http_, net::HttpServer::open_plain(loop, o.address, o.port, handle, error_answer));
  }
  server->http_->trust(
      [self](const net::HttpRequest& head) { return self->guard_.role_of(head).has_value(); });
  server->watch_ = std::make_unique<Watch>(
      o.roots, [self, post = loop.poster(), lives = std::weak_ptr(self->lives_)](std::vector<JobPtr> jobs) {
        post([self, lives, jobs = std::move(jobs)]() mutable {
          if (!lives.expired()) self->take(std::move(jobs));
        });
      });
  return server;
}

// Whoever serves one job is about to look at it.
void Server::take(std::vector<JobPtr> jobs) {
  const JobPtr only = !std::exchange(has_jobs_, true) && jobs.size() == 1 ? jobs[0] : nullptr;
  jobs_.set(std::move(jobs));
  if (only) read_ahead(jobs_, desk_, loop_.poster(), only);
}

std::shared_ptr<mcp::World> Server::world() const {
  auto world = std::make_shared<mcp::World>();
  if (!options_.agents.addresses.empty())
    world->agents = std::make_unique<mcp::AskedAgents>(options_.agents.addresses, options_.agents.credentials,
                                                       options_.agents.options);
  if (options_.roots.empty())
    world->traces = std::make_unique<mcp::AgentTraces>(*world->agents);
  else
    world->traces = std::make_unique<FolderTraces>(options_.roots);
  return world;
}

std::string Server::url() const { return url_with(guard_.token); }

std::string Server::view_url() const {
  return guard_.view_token.empty() ? std::string() : url_with(guard_.view_token);
}

std::string Server::url_with(std::string_view token) const {
  const bool is_any = options_.address == "0.0.0.0" || options_.address == "::";
  const bool is_v6 = !is_any && options_.address.find(':') != std::string::npos;
  const std::string host = is_any ? guard_.own_name : options_.address;
  return fmt::format("{}://{}:{}{}/#token={}", guard_.scheme, is_v6 ? "[" + host + "]" : host, http_->port(),
                     options_.base_path, token);
}

// A line for each, but not more than so many in a while: anybody on this machine can cause one.
void Server::log_refusal(const net::HttpRequest& request, const Error& why) {
  constexpr i64 kMostLines = 20;
  constexpr size_t kShown = 100;
  if (loop_.now() - lines_since_ > LogLimit::kPeriod) {
    if (lines_ > kMostLines) log(Level::warning, "{} more requests were refused", lines_ - kMostLines);
    lines_since_ = loop_.now();
    lines_ = 0;
  }
  if (++lines_ > kMostLines) return;
  log(Level::warning, "refused {} {} of {}: {}", to_printable(request.method.substr(0, kShown)),
      to_printable(request.target.substr(0, kShown)), request.peer.address, why.message);
}

void Server::refuse(const net::HttpRequest& request, const net::HttpServer::Respond& respond,
                    const Error& why, int status) {
  log_refusal(request, why);
  net::HttpAnswer refusal = error_answer(why);
  refusal.status = status;
  if (status == kUnauthorized) refusal.headers.emplace_back("WWW-Authenticate", "Bearer");
  respond(std::move(refusal));
}

void Server::answer(net::HttpRequest request, net::HttpServer::Respond respond) {
  constexpr int kDenied = 403, kMoved = 301;
  AccessRole role = AccessRole::view;
  if (const auto is = guard_.check_site(request); !is) return refuse(request, respond, is.error(), kDenied);
  const wire::Target target(request.target);
  std::string_view path = target.path;
  const std::string& base = options_.base_path;
  if (!base.empty() && path == base) {
    net::HttpAnswer moved{kMoved, {}};
    net::add_browser_headers(net::kDataPolicy, moved);
    moved.headers.emplace_back("Location", base + "/");
    return respond(std::move(moved));
  }
  if (!path.starts_with(base + "/"))
    return respond(error_answer({Code::not_found, "there is nothing of that name here"}));
  path.remove_prefix(base.size());
  if (!is_open(path)) {
    if (const auto is = guard_.check_fetch(request); !is)
      return refuse(request, respond, is.error(), kDenied);
    const std::optional<AccessRole> holder = guard_.role_of(request);
    if (!holder)
      return refuse(
          request, respond,
          {Code::denied,
           "this needs the token: Authorization: Bearer TOKEN, as the address has it that was printed"},
          kUnauthorized);
    role = *holder;
    if (const auto may = may_ask(role, request.method, path); !may)
      return refuse(request, respond, may.error(), kDenied);
  }
  if (path == mcp::Endpoint::kPath)
    return assistants_.answer(std::move(request), std::move(respond), "", [this] { return world(); });
  if (Agents::has(path)) return agents_.answer(path, request, role, std::move(respond));
  answer_route(path, {jobs_, desk_, loop_.poster(), program_, request, target, {}, std::move(respond)});
}

}  // namespace spotter::serve
