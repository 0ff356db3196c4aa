#include "api/agent.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "api/dynolog_rpc.h"
#include "api/routes.h"
#include "base/utf8.h"
#include "kineto/message.h"

namespace spotter::api {
namespace {

constexpr Ns kTick = 200'000'000;
constexpr size_t kMostContexts = 4096;
constexpr size_t kMostWaiters = 1024, kShownPids = 16;
constexpr size_t kRefreshed = 64;  // processes at a time: a few milliseconds
constexpr Ns kMostPause = 10'000'000;

std::string name_of_this_host() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || !name[0]) return "localhost";
  return to_printable(name.data());
}

// A descriptor for each process that is watched and each connection.
void allow_many_descriptors() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

struct Agent::Waiter {
  Waiter(net::Loop& loop, std::string capture, std::function<void()> f)
      : id(std::move(capture)), act(std::move(f)), timer(loop) {}
  std::string id;
  std::function<void()> act;
  net::Timer timer;
};

Agent::Agent(net::Loop& loop, AgentOptions options, Host host)
    : loop_(loop),
      options_(std::move(options)),
      host_(host),
      host_name_(name_of_this_host()),
      started_(loop.now()),
      access_(options_.output_directories),
      registry_(host),
      captures_(registry_, host, host_name_),
      analyses_(loop, host, host_name_),
      tick_(loop),
      meet_(loop) {
  captures_.on_change([this](const capture::Capture& c) { changed(c); });
}

Agent::~Agent() = default;

Result<std::unique_ptr<Agent>> Agent::open(net::Loop& loop, AgentOptions options, Host host) {
  allow_many_descriptors();
  std::unique_ptr<Agent> agent(new Agent(loop, std::move(options), std::move(host)));
  Agent& a = *agent;
  TRY_ASSIGN(a.datagrams_, net::Datagrams::open(loop, a.options_.ipc_directory, kineto::kDaemonName,
                                                [&a](const net::Datagram& d) { a.receive(d); }));
  TRY_ASSIGN(a.http_, net::HttpServer::open(
                          loop, a.options_.api_socket,
                          [&a](net::HttpRequest request, net::HttpServer::Respond respond) {
                            ++a.counters_.http_requests;
                            answer_http(a, std::move(request), std::move(respond));
                          },
                          http_error));
  if (a.options_.rpc_port) {
    static const std::string loopback[] = {"127.0.0.1", "::1"};
    TRY_ASSIGN(a.rpc_,
               net::FramedServer::open(loop, loopback, *a.options_.rpc_port,
                                       [&a](const Result<std::string>& request, const net::TcpEnds& ends) {
                                         ++a.counters_.rpc_requests;
                                         return answer_rpc(a, request, ends);
                                       }));
    log(Level::info, "dynolog rpc on 127.0.0.1:{}", a.rpc_->port());
  }
  return agent;
}

capture::Times Agent::now() const {
  const auto unix = std::chrono::system_clock::now().time_since_epoch();
  return {loop_.now(), std::chrono::duration_cast<std::chrono::milliseconds>(unix).count()};
}

size_t Agent::connections() const { return http_->connections() + (rpc_ ? rpc_->connections() : 0); }
i64 Agent::closed_for_room() const { return http_->closed_for_room() + (rpc_ ? rpc_->closed_for_room() : 0); }

void Agent::bad(const net::Datagram& datagram, std::string_view why) {
  ++counters_.bad_datagrams;
  bad_datagrams_log_.log(
      Level::warning, loop_.now(),
      fmt::format("a datagram of process {} (user {}) is dropped: {}", datagram.pid, datagram.uid, why));
}

void Agent::receive(const net::Datagram& datagram) {
  if (datagram.pid <= 0) return bad(datagram, "the kernel does not say whose it is");
  if (datagram.from.empty()) return bad(datagram, "it has no address that could be answered");
  if (datagram.cut) return bad(datagram, "it is too long");
  const Result<kineto::Message> message = kineto::decode(datagram.bytes);
  if (!message) return bad(datagram, message.error().message);
  if (const auto* p = std::get_if<kineto::Poll>(&*message)) return arrived(datagram, *p);
  const auto& registration = std::get<kineto::Registration>(*message);
  if (contexts_.size() >= kMostContexts) contexts_.clear();
  auto& pids = contexts_[{registration.job_id, registration.gpu}];
  if (pids.size() >= kMostContexts) pids.clear();
  pids[registration.pid] = true;
  datagrams_->send(datagram.from, kineto::encode_count(static_cast<i32>(pids.size())));
}

// Whoever is new has to be looked up in /proc, which takes a hundred times as long as the rest. When a
// thousand processes begin together, that must neither keep the queue of datagrams full nor make the agent
// the one that the scheduler lets wait: lookups have half of its time. Who asks for the registry gets it
// with all of them.
void Agent::arrived(const net::Datagram& datagram, const kineto::Poll& polled) {
  ++counters_.polls;
  const kineto::Process* known = registry_.find(datagram.pid);
  if (known && known->address == datagram.from) return poll(datagram, polled);
  if (newcomers_.size() >= kineto::Registry::kMost && !newcomers_.contains(datagram.pid))
    return refused_log_.log(Level::warning, loop_.now(), "a poll is not taken: too many processes are new");
  newcomers_.insert_or_assign(datagram.pid, Newcomer{datagram.uid, std::string(datagram.from), polled});
  meet_newcomers();
}

void Agent::meet_newcomers() {
  if (meeting_ || newcomers_.empty()) return;
  meeting_ = true;
  meet_.set(meet_pause_, [this] {
    meeting_ = false;
    const Ns start = loop_.now();
    if (!newcomers_.empty()) meet_one();
    meet_pause_ = std::min(kMostPause, loop_.now() - start);
    meet_newcomers();
  });
}

void Agent::meet_one() {
  auto next =
      newcomers_.upper_bound(last_met_);  // in turn, so that nobody who comes again and again is preferred
  if (next == newcomers_.end()) next = newcomers_.begin();
  const auto newcomer = newcomers_.extract(next);
  last_met_ = newcomer.key();
  net::Datagram datagram;
  datagram.pid = newcomer.key();
  datagram.uid = newcomer.mapped().uid;
  datagram.from = newcomer.mapped().address;
  poll(datagram, newcomer.mapped().poll);
}

kineto::Registry& Agent::registry() {
  while (!newcomers_.empty()) meet_one();
  return registry_;
}

// An empty poll is not answered: an answer that comes too late is taken for that of the next one.
void Agent::poll(const net::Datagram& datagram, const kineto::Poll& poll) {
  const auto seen = registry_.seen({datagram.pid, datagram.uid}, datagram.from, poll, loop_.now());
  if (!seen) {
    refused_log_.log(Level::warning, loop_.now(),
                     fmt::format("a poll is not taken: {}", seen.error().message));
    return;
  }
  const kineto::Process& process = **seen;
  if (!watches_.contains(datagram.pid) && !watch(datagram.pid)) return;
  const std::optional<std::string> text = captures_.text_for(process, now());
  if (!text) return;
  if (!datagrams_->send(datagram.from, kineto::encode_config(*text))) {
    ++counters_.sends_failed;  // it stays for the next poll
    return;
  }
  ++counters_.requests_sent;
  captures_.sent(datagram.pid, now());
}

bool Agent::watch(i64 pid) {
  auto watch = net::ProcessWatch::open(loop_, pid, [this, pid] {
    captures_.gone(pid, now());
    registry_.gone(pid);
    watches_.erase(pid);
  });
  if (!watch) {
    // It has ended, or no descriptor is left; then one of its next polls may find one.
    registry_.gone(pid);
    refused_log_.log(Level::warning, loop_.now(),
                     fmt::format("a poll is not taken: {}", watch.error().message));
    return false;
  }
  watches_.emplace(pid, std::move(*watch));
  return true;
}

void Agent::refresh_processes() { registry_.refresh(loop_.now(), kRefreshed); }

Result<std::string> Agent::begin_capture(const Peer& peer, const capture::Request& request,
                                         std::string_view what) {
  const auto begin = [&]() -> Result<std::string> {
    for (const i64 pid : request.pids) {
      const kineto::Process* process = registry().find(pid);
      if (process) TRY(access_.may_trace(peer, *process));
    }
    const std::string& path = request.output.empty() ? request.config.log_file : request.output;
    TRY(access_.may_write(peer,
                          path.empty() ? "/tmp" : path));  // where a process writes that is told no place
    return captures_.begin(request, now());
  };
  const Result<std::string> id = begin();
  const std::span<const i64> shown(request.pids.data(), std::min(request.pids.size(), kShownPids));
  const std::string line = fmt::format(
      "audit: user {} ({}) asks to trace {} processes ({}{}) by {} to {}: {}", peer.uid, peer.from,
      request.pids.size(), fmt::join(shown, " "), shown.size() < request.pids.size() ? " ..." : "", what,
      to_printable(request.output.empty() ? request.config.log_file : request.output),
      id ? "capture " + *id : "refused, " + id.error().message);
  // What is refused changes nothing, and anybody may ask as often as he likes.
  if (id)
    log_line(Level::info, line);
  else
    refused_log_.log(Level::info, loop_.now(), line);
  if (id) keep_ticking();
  return id;
}

void Agent::keep_ticking() {
  if (ticking_) return;
  ticking_ = true;
  tick_.set(kTick, [this] {
    ticking_ = false;
    captures_.tick(now());
    if (captures_.active()) keep_ticking();
  });
}

void Agent::changed(const capture::Capture& capture) {
  for (auto& [number, waiter] : waiters_) {
    if (waiter->id == capture.id) waiter->timer.set(0, waiter->act);
  }
}

void Agent::when_changed(const std::string& id, i64 seen, Ns patience, std::function<void()> act) {
  const capture::Capture* capture = captures_.find(id);
  if (!capture || capture->revision > seen || capture->over() || patience <= 0) return act();
  if (waiters_.size() >= kMostWaiters) {
    Waiter& oldest = *waiters_.begin()->second;
    oldest.timer.set(0, oldest.act);
  }
  const u64 number = next_waiter_++;
  auto waiter = std::make_unique<Waiter>(loop_, id, [this, number, act = std::move(act)] {
    const auto keep = std::move(waiters_.at(number));  // it is running
    waiters_.erase(number);
    act();
  });
  waiter->timer.set(patience, waiter->act);
  waiters_.emplace(number, std::move(waiter));
}

}  // namespace spotter::api
