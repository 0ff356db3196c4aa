#include "agent/incidents/incident_memory.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

#include "agent/incidents/incident_outbox.h"
#include "base/log.h"
#include "base/system/thread_name.h"
#include "wire/incident.h"

namespace spotter::agent {
namespace {

using namespace std::chrono_literals;

constexpr size_t kMostUnwritten = 1000;  // changes
constexpr size_t kMostTold = 1000;       // lines for the audit; notifiers are told less in a second
constexpr auto kRetry = 1s, kLastTime = 1s;

struct Change {
  store::StoredIncident incident;
  std::vector<store::Transition> transitions;
  std::vector<store::OutboxRow> words;
  Ns now = 0;
};

store::StoredIncident stored(const respond::Incident& incident, const std::string& text) {
  return {.id = incident.id(),
          .key = incident.key(),
          .n = incident.n,
          .state = respond::state_name(incident.state),
          .opened = incident.opened,
          .updated = incident.updated,
          .closed = incident.closed,
          .text = text};
}

// Of a file that cannot be used `why` says the reason.
Result<std::shared_ptr<store::IncidentStore>> open_store(IncidentMemoryOptions& options, std::string& why) {
  options.store.path = options.path;
  Result<std::unique_ptr<store::IncidentStore>> opened = store::IncidentStore::open(options.store);
  if (!opened) {
    why = opened.error().message;
    log(Level::error, "incidents are remembered in memory alone: {}", why);
    options.store.path.clear();
    opened = store::IncidentStore::open(options.store);
    if (!opened) return tl::unexpected(opened.error());
  }
  return std::shared_ptr<store::IncidentStore>(std::move(*opened));
}

}  // namespace

// Shared with the thread, which may outlive the memory where a disk hangs.
struct IncidentMemory::Body {
  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return is_ending || !changes.empty(); });
      if (changes.empty() || is_over) break;
      const Change& change = changes.front();  // stays in place: only this thread removes it
      lock.unlock();
      const Result<void> put = store->put(change.incident, change.transitions, change.words, change.now);
      lock.lock();
      store_state = store->state();
      if (!put && put.error().code != Code::invalid) {
        if (is_ending) break;
        changed.wait_for(lock, kRetry, [&] { return is_ending; });
        continue;
      }
      if (!put) {
        log(Level::error, "{}", put.error().message);
        ++lost;
      }
      changes.pop_front();
      if (put && wake) wake();
    }
    is_over = true;
    changed.notify_all();
  }

  std::shared_ptr<store::IncidentStore> store;
  std::string path, why_in_memory;
  std::vector<std::string> names;       // of the notifiers
  std::vector<respond::Urgency> least;  // that each is told of
  std::vector<bool> forgets;            // what nobody repeats
  mutable std::mutex mutex;             // of the rest
  std::condition_variable changed;
  std::deque<Change> changes;
  std::map<std::string, i64, std::less<>> n_of_key;
  std::vector<std::string> told;
  std::function<void()> wake;  // the delivery; empty: it has gone
  store::IncidentStoreState store_state;
  i64 lost = 0;
  bool is_ending = false, is_over = false;
  std::thread thread;
};

Result<std::unique_ptr<IncidentMemory>> IncidentMemory::open(IncidentMemoryOptions options) {
  std::unique_ptr<IncidentMemory> memory(new IncidentMemory());
  memory->body_ = std::make_shared<Body>();
  Body& b = *memory->body_;
  TRY_ASSIGN(b.store, open_store(options, b.why_in_memory));
  if (b.why_in_memory.empty()) b.path = options.path;
  for (notify::Receiver& receiver : options.receivers) {
    b.names.push_back(receiver.name);
    b.least.push_back(receiver.least);
    b.forgets.push_back(receiver.notifier->renewal() > 0);
    receiver.on_told = [body = memory->body_, name = receiver.name](const std::string& what) {
      const std::lock_guard lock(body->mutex);
      if (body->told.size() < kMostTold) body->told.push_back(fmt::format("tells {} of {}", name, what));
    };
  }
  TRY_ASSIGN(const i64 dropped, b.store->keep_notifiers(b.names));
  if (dropped > 0)
    log(Level::warning, "words for notifiers that are configured no more are not told: {}", dropped);
  b.lost = dropped;
  TRY_ASSIGN(const auto keys, b.store->keys());
  b.n_of_key.insert(keys.begin(), keys.end());
  b.store_state = b.store->state();
  TRY_ASSIGN(memory->delivery_, notify::Delivery::start(std::move(options.receivers), outbox_in(b.store),
                                                        std::move(options.delivery)));
  b.wake = [delivery = memory->delivery_.get()] { delivery->wake(); };
  try {
    b.thread = std::thread([body = memory->body_] { body->run(); });
  } catch (const std::system_error& error) {
    return fail(Code::busy, "incidents: {}", error.what());
  }
  set_thread_name(b.thread.native_handle(), "incidents");
  return memory;
}

std::vector<std::string> IncidentMemory::take_told() {
  const std::lock_guard lock(body_->mutex);
  return std::exchange(body_->told, {});
}

IncidentMemory::~IncidentMemory() {
  Body& b = *body_;
  std::unique_lock lock(b.mutex);
  b.is_ending = true;
  b.changed.notify_all();
  if (!b.thread.joinable()) return;
  const bool is_over = b.changed.wait_for(lock, kLastTime, [&] { return b.is_over; });
  if (!b.changes.empty())
    log(Level::warning, "{} changes of incidents could not be written before the end", b.changes.size());
  b.is_over = true;
  b.wake = nullptr;
  lock.unlock();
  if (is_over) {
    b.thread.join();
  } else {
    b.thread.detach();
  }
}

void IncidentMemory::put(const respond::Incident& incident, std::vector<store::Transition> transitions,
                         std::optional<notify::Occasion> occasion, Ns now, bool is_renewal) {
  const std::string text = wire::incident_text(incident);
  Change change{stored(incident, text), std::move(transitions), {}, now};
  Body& b = *body_;
  if (occasion) {
    for (size_t i = 0; i < b.names.size(); ++i) {
      if (incident.urgency >= b.least[i] && (b.forgets[i] || !is_renewal))
        change.words.push_back(outbox_row(incident, *occasion, b.names[i], text, now));
    }
  }
  const std::lock_guard lock(b.mutex);
  i64& n = b.n_of_key[change.incident.key];
  n = std::max(n, incident.n);
  if (b.changes.size() >= kMostUnwritten) {
    ++b.lost;
    return;
  }
  b.changes.push_back(std::move(change));
  b.changed.notify_all();
}

i64 IncidentMemory::last_n(const std::string& key) const {
  const std::lock_guard lock(body_->mutex);
  const auto it = body_->n_of_key.find(key);
  return it == body_->n_of_key.end() ? 0 : it->second;
}

store::IncidentStore& IncidentMemory::store() { return *body_->store; }
std::shared_ptr<store::IncidentStore> IncidentMemory::shared_store() const { return body_->store; }

Result<std::vector<respond::Incident>> IncidentMemory::open_incidents() {
  TRY_ASSIGN(const auto all, body_->store->open_ones());
  std::vector<respond::Incident> incidents;
  for (const store::StoredIncident& one : all) {
    Result<respond::Incident> incident = wire::read_incident(one.text);
    if (!incident) return within(incident.error(), fmt::format("incident {}", one.id));
    incidents.push_back(std::move(*incident));
  }
  return incidents;
}

IncidentMemoryState IncidentMemory::state() const {
  std::vector<notify::NotifierState> notifiers = delivery_->state();
  const Body& b = *body_;
  const std::lock_guard lock(b.mutex);
  return {b.path, b.why_in_memory, std::ssize(b.changes), b.lost, b.store_state, std::move(notifiers)};
}

}  // namespace spotter::agent
