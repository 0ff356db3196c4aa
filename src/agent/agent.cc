#include "agent/agent.h"

#include <algorithm>

#include "api/cross_site.h"
#include "api/dynolog_rpc.h"
#include "api/metrics_page.h"
#include "api/routes.h"
#include "base/utf8.h"
#include "collect/process/identities.h"
#include "kineto/message.h"

namespace spotter::agent {
namespace {

constexpr Ns kTick = 200'000'000;      // for all processes that have a request
constexpr Ns kLeastTick = 10'000'000;  // a thousand take 0.6 s and a twentieth of a processor
constexpr size_t kLookedAfter = 16;    // at a time
constexpr Ns kNewsPause = 50'000'000;  // so that a thousand changes are told at once
constexpr size_t kMostContexts = 4096;
constexpr size_t kMostWaiters = 1024, kShownPids = 16;
constexpr size_t kRefreshed = 64;  // processes at a time: a few milliseconds
constexpr Ns kMostPause = 10'000'000;

// For the history: the capture as a whole.
store::CaptureNote note_of(const capture::Capture& capture) {
  store::CaptureNote note;
  note.id = capture.id;
  note.began_unix_ns = capture.accepted.unix_ms * 1'000'000;
  note.asked_by = capture.asked_by;
  note.job = capture.job;
  note.processes = static_cast<i64>(capture.receipts.size());
  note.output = capture.output();
  note.state = capture.over() ? capture.state() : store::kCaptureRuns;
  return note;
}

}  // namespace

struct Agent::Waiter {
  Waiter(net::Loop& loop, std::string capture, std::function<void()> f)
      : id(std::move(capture)), act(std::move(f)), timer(loop) {}
  std::string id;
  std::function<void()> act;
  net::Timer timer;
  bool is_due = false;
};

Agent::Agent(net::Loop& loop, AgentOptions options, Host host)
    : loop_(loop),
      options_(std::move(options)),
      host_(host),
      host_name_(to_printable(spotter::host_name())),
      started_(loop.now()),
      access_(options_.output_directories,
              options_.remote ? options_.remote->clients : std::vector<ClientRule>()),
      registry_(host),
      captures_(registry_, host, host_name_),
      analyses_(loop, host, host_name_),
      tick_(loop),
      meet_(loop) {
  captures_.on_change([this](const capture::Capture& c) { changed(c); });
}

Agent::~Agent() = default;

Result<std::unique_ptr<Agent>> Agent::open(net::Loop& loop, AgentOptions options, Host host) {
  net::allow_many_descriptors();  // one for each process that is watched and each connection
  std::unique_ptr<Agent> agent(new Agent(loop, std::move(options), std::move(host)));
  Agent& a = *agent;
  TRY_ASSIGN(a.datagrams_, net::Datagrams::open(loop, a.options_.ipc_directory, kineto::kDaemonName,
                                                [&a](const net::Datagram& d) { a.receive(d); }));
  const auto answer = [&a](net::HttpRequest request, net::HttpServer::Respond respond) {
    ++a.counters_.http_requests;
    api::answer_http(a, std::move(request), std::move(respond));
  };
  TRY_ASSIGN(a.http_, net::HttpServer::open(loop, a.options_.api_socket, answer, api::http_error));
  TRY(a.open_rpc());
  if (const auto& remote = a.options_.remote) {
    TRY_ASSIGN(std::shared_ptr<net::Tls> tls, net::Tls::server(remote->tls));
    TRY_ASSIGN(a.remote_, net::HttpServer::open(loop, remote->address, remote->port, std::move(tls), answer,
                                                api::http_error));
    log(Level::info, "api for other hosts on {}:{}", remote->address, a.remote_->port());
  }
  TRY(a.open_metrics_door());
  TRY_ASSIGN(a.telemetry_, Telemetry::open(loop, a.options_.telemetry, a.host_, a.host_name_));
  return agent;
}

Result<void> Agent::open_metrics_door() {
  if (!options_.prometheus) return {};
  const MetricsDoor& door = *options_.prometheus;
  const auto own_name = api::is_loopback(door.address) ? std::optional(host_name_) : std::nullopt;
  TRY_ASSIGN(
      prometheus_,
      net::HttpServer::open_plain(
          loop_, door.address, door.port,
          [this, own_name](const net::HttpRequest& request, const net::HttpServer::Respond& respond) {
            ++counters_.http_requests;
            respond(api::answer_metrics_door(telemetry_->latest(), host_.unix_now(), request, own_name));
          },
          api::http_error));
  log(Level::info, "prometheus on {}:{}", door.address, prometheus_->port());
  return {};
}

Result<void> Agent::open_rpc() {
  if (!options_.rpc_port) return {};
  static const std::string loopback[] = {"127.0.0.1", "::1"}, all[] = {"0.0.0.0", "::"};
  const bool for_all = options_.rpc_on_all_addresses_without_authentication;
  TRY_ASSIGN(rpc_,
             net::FramedServer::open(loop_, for_all ? all : loopback, *options_.rpc_port,
                                     [this](const Result<std::string>& request, const net::TcpEnds& ends) {
                                       ++counters_.rpc_requests;
                                       return api::answer_rpc(*this, request, ends);
                                     }));
  log(Level::info, "dynolog rpc on {}:{}", (for_all ? all : loopback)[0], rpc_->port());
  if (for_all) log(Level::warning, "dynolog rpc: whoever reaches this host may trace every process on it");
  return {};
}

capture::Times Agent::now() const { return {loop_.now(), host_.unix_now() / 1'000'000}; }

size_t Agent::connections() const {
  return http_->connections() + (remote_ ? remote_->connections() : 0) +
         (prometheus_ ? prometheus_->connections() : 0) + (rpc_ ? rpc_->connections() : 0);
}
i64 Agent::closed_for_room() const {
  return http_->closed_for_room() + (remote_ ? remote_->closed_for_room() : 0) +
         (prometheus_ ? prometheus_->closed_for_room() : 0) + (rpc_ ? rpc_->closed_for_room() : 0);
}

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
// the one that the scheduler lets wait: lookups have a fifth of its time. Who asks for the registry gets it
// with all of them.
void Agent::arrived(const net::Datagram& datagram, const kineto::Poll& polled) {
  ++counters_.polls;
  const kineto::Process* known = registry_.find(datagram.pid);
  if (known && known->address == datagram.from) return poll(datagram, polled);
  if (newcomers_.size() >= kineto::Registry::kMost && !newcomers_.contains(datagram.pid))
    return refused_polls_log_.log(Level::warning, loop_.now(),
                                  "a poll is not taken: too many processes are new");
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
    meet_pause_ = std::min(kMostPause, 4 * (loop_.now() - start));
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
    refused_polls_log_.log(Level::warning, loop_.now(),
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
    refused_polls_log_.log(Level::warning, loop_.now(),
                           fmt::format("a poll is not taken: {}", watch.error().message));
    return false;
  }
  watches_.emplace(pid, std::move(*watch));
  telemetry_->identities().notice(pid);
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
    capture::Request asked = request;
    asked.asked_by = peer.name;
    return captures_.begin(asked, now());
  };
  const Result<std::string> id = begin();
  const std::span<const i64> shown(request.pids.data(), std::min(request.pids.size(), kShownPids));
  const std::string asked =
      fmt::format("asks to trace {} processes ({}{}) by {} to {}", request.pids.size(), fmt::join(shown, " "),
                  shown.size() < request.pids.size() ? " ..." : "", what,
                  to_printable(request.output.empty() ? request.config.log_file : request.output));
  if (!id) {
    refused(peer, asked, id.error());
    return id;
  }
  log(Level::info, "audit: {} ({}) {}: capture {}", to_printable(peer.name), peer.from, asked, *id);
  keep_ticking();
  return id;
}

// It changes nothing, and anybody may ask as often as he likes.
void Agent::refused(const Peer& peer, std::string_view what, const Error& why) {
  refused_log_.log(
      Level::info, loop_.now(),
      fmt::format("audit: {} ({}) {}: refused, {}", to_printable(peer.name), peer.from, what, why.message));
}

Result<void> Agent::end_capture(const Peer& peer, const std::string& id) {
  const capture::Capture* capture = captures_.find(id);
  if (!capture) return fail(Code::not_found, "there is no capture of that id");
  const Result<void> may =
      access_.may(peer, capture->asked_by == peer.name ? AccessRole::trace : AccessRole::admin);
  if (!may) {
    refused(peer, "ends capture " + id, may.error());
    return may;
  }
  log(Level::info, "audit: {} ({}) ends capture {}: done", to_printable(peer.name), peer.from, id);
  captures_.end(id, peer.name, now());
  return {};
}

// Who may trace is about to use a profiler.
Result<void> Agent::pause_profiling(const Peer& peer, Ns duration) {
  const std::string asked = duration > 0
                                ? fmt::format("pauses DCGM's profiling for {} s", duration / 1'000'000'000)
                                : "resumes DCGM's profiling";
  if (Result<void> may = access_.may(peer, AccessRole::trace); !may) {
    refused(peer, asked, may.error());
    return may;
  }
  log(Level::info, "audit: {} ({}) {}: done", to_printable(peer.name), peer.from, asked);
  if (duration > 0) {
    telemetry_->profiling_pause().until(now().steady + duration);
  } else {
    telemetry_->profiling_pause().end();
  }
  return {};
}

// A few at a time: to look after a thousand at once would keep the next poll waiting.
void Agent::keep_ticking() {
  if (ticking_) return;
  ticking_ = true;
  leave_profiling_alone();
  const Ns turns = static_cast<Ns>(captures_.active() / kLookedAfter + 1);
  tick_.set(std::max(kTick / turns, kLeastTick), [this] {
    ticking_ = false;
    captures_.tick(now(), kLookedAfter);
    if (captures_.active() > 0) keep_ticking();
  });
}

// A pause that somebody asked for stays as long as he said.
void Agent::leave_profiling_alone() {
  constexpr Ns kAhead = 5'000'000'000;
  collect::ProfilingPause& pause = telemetry_->profiling_pause();
  if (!pause.is_on(loop_.now() + kAhead)) pause.until(loop_.now() + kAhead);
}

void Agent::changed(const capture::Capture& capture) {
  telemetry_->note_capture(note_of(capture));
  for (auto& [number, waiter] : waiters_) {
    if (waiter->id == capture.id && !std::exchange(waiter->is_due, true))
      waiter->timer.set(capture.over() ? 0 : kNewsPause, waiter->act);
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

}  // namespace spotter::agent
