#include "agent/jobs/processes.h"

#include <algorithm>
#include <optional>
#include <variant>

namespace spotter::agent {
namespace {

constexpr size_t kRefreshed = 64;  // processes at a time: a few milliseconds
constexpr Ns kMostPause = 10'000'000;

}  // namespace

Processes::Processes(net::Loop& loop, Clock clock, kineto::Registry& registry, capture::Captures& captures,
                     std::function<void(i64 pid)> on_new)
    : loop_(loop),
      clock_(clock),
      registry_(registry),
      captures_(captures),
      on_new_(std::move(on_new)),
      meet_(loop) {}

Processes::~Processes() = default;

Result<void> Processes::listen(const std::string& directory) {
  TRY_ASSIGN(datagrams_, net::Datagrams::open(loop_, directory, kineto::kDaemonName,
                                              [this](const net::Datagram& d) { receive(d); }));
  return {};
}

void Processes::bad(const net::Datagram& datagram, std::string_view why) {
  ++counters_.bad_datagrams;
  bad_datagrams_log_.log(
      Level::warning, loop_.now(),
      fmt::format("a datagram of process {} (user {}) is dropped: {}", datagram.pid, datagram.uid, why));
}

void Processes::not_taken(std::string_view why) {
  refused_polls_log_.log(Level::warning, loop_.now(), fmt::format("a poll is not taken: {}", why));
}

void Processes::receive(const net::Datagram& datagram) {
  if (datagram.pid <= 0) return bad(datagram, "the kernel does not say whose it is");
  if (datagram.from.empty()) return bad(datagram, "it has no address that could be answered");
  if (datagram.cut) return bad(datagram, "it is too long");
  const Result<kineto::Message> message = kineto::decode(datagram.bytes);
  if (!message) return bad(datagram, message.error().message);
  if (const auto* p = std::get_if<kineto::Poll>(&*message)) return arrived(datagram, *p);
  count_context(datagram, std::get<kineto::Registration>(*message));
}

void Processes::count_context(const net::Datagram& datagram, const kineto::Registration& registration) {
  const i64 count = contexts_.count(datagram.pid, {registration.job_id, registration.gpu});
  datagrams_->send(datagram.from, kineto::encode_count(static_cast<i32>(count)));
}

// Whoever is new has to be looked up in /proc, which takes a hundred times as long as the rest. When a
// thousand processes begin together, that must neither keep the queue of datagrams full nor make the agent
// the one that the scheduler lets wait: lookups have a fifth of its time. Who asks for the registry gets it
// with all of them.
void Processes::arrived(const net::Datagram& datagram, const kineto::Poll& polled) {
  ++counters_.polls;
  const kineto::Process* known = registry_.find(datagram.pid);
  if (known && known->address == datagram.from) return poll(datagram, polled, loop_.now());
  if (newcomers_.size() >= kineto::Registry::kMost && !newcomers_.contains(datagram.pid))
    return not_taken("too many processes are new");
  const auto before = newcomers_.find(datagram.pid);
  const Ns first = before == newcomers_.end() ? loop_.now() : before->second.arrived;
  newcomers_.insert_or_assign(datagram.pid,
                              Newcomer{datagram.uid, std::string(datagram.from), polled, first});
  meet_newcomers();
}

void Processes::meet_newcomers() {
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

void Processes::meet_one() {
  auto next =
      newcomers_.upper_bound(last_met_);  // in turn, so that nobody who comes again and again is preferred
  if (next == newcomers_.end()) next = newcomers_.begin();
  const auto newcomer = newcomers_.extract(next);
  last_met_ = newcomer.key();
  net::Datagram datagram;
  datagram.pid = newcomer.key();
  datagram.uid = newcomer.mapped().uid;
  datagram.from = newcomer.mapped().address;
  poll(datagram, newcomer.mapped().poll, newcomer.mapped().arrived);
}

kineto::Registry& Processes::registry() {
  while (!newcomers_.empty()) meet_one();
  return registry_;
}

// An empty poll is not answered: an answer that comes too late is taken for that of the next one.
void Processes::poll(const net::Datagram& datagram, const kineto::Poll& poll, Ns arrived) {
  const auto seen = registry_.seen({datagram.pid, datagram.uid}, datagram.from, poll, arrived);
  if (!seen) return not_taken(seen.error().message);
  const kineto::Process& process = **seen;
  if (!watches_.contains(datagram.pid) && !watch(datagram.pid)) return;
  const std::optional<std::string> text = captures_.text_for(process, clock_.now());
  if (!text) return;
  if (!datagrams_->send(datagram.from, kineto::encode_config(*text))) {
    ++counters_.sends_failed;  // it stays for the next poll
    return;
  }
  ++counters_.requests_sent;
  captures_.sent(datagram.pid, clock_.now());
}

bool Processes::watch(i64 pid) {
  auto watch = net::ProcessWatch::open(loop_, pid, [this, pid] {
    captures_.gone(pid, clock_.now());
    registry_.gone(pid);
    contexts_.gone(pid);
    watches_.erase(pid);
  });
  if (!watch) {
    // It has ended, or no descriptor is left; then one of its next polls may find one.
    registry_.gone(pid);
    not_taken(watch.error().message);
    return false;
  }
  watches_.emplace(pid, std::move(*watch));
  on_new_(pid);
  return true;
}

void Processes::refresh() { registry_.refresh(loop_.now(), kRefreshed); }

}  // namespace spotter::agent
