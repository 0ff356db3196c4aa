#include "agent/incident_journal.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include "agent/incident_outbox.h"
#include "base/log.h"
#include "base/system/thread_name.h"
#include "wire/incident.h"

namespace spotter::agent {
namespace {

constexpr size_t kMostWaiting = 10'000;

// What is put at once.
struct Entry {
  store::StoredIncident incident;
  store::Transition transition;
  std::vector<store::OutboxRow> words;
  Ns now = 0;
};

notify::Occasion occasion_of(respond::Word word) {
  switch (word) {
    case respond::Word::opened:
      return notify::Occasion::opened;
    case respond::Word::changed:
      return notify::Occasion::changed;
    case respond::Word::resolved:
      return notify::Occasion::resolved;
    case respond::Word::none:
    case respond::Word::verdict:
      break;
  }
  return notify::Occasion::verdict;
}

store::StoredIncident stored(const respond::Incident& incident, std::string text) {
  return {.id = incident.id(),
          .key = incident.key(),
          .n = incident.n,
          .state = respond::state_name(incident.state),
          .opened = incident.opened,
          .updated = incident.updated,
          .closed = incident.closed,
          .text = std::move(text)};
}

}  // namespace

struct IncidentJournal::Body {
  std::shared_ptr<store::IncidentStore> store;
  std::unique_ptr<notify::Delivery> delivery;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::variant<Entry, store::Silence>> waiting;
  std::string why_in_memory = {};
  bool is_ending = false;
  i64 lost = 0;
  std::thread thread;

  void run() {
    set_thread_name(pthread_self(), "incidents");
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return is_ending || !waiting.empty(); });
      if (waiting.empty()) return;
      const auto entry = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      const Result<void> done = std::visit([this](const auto& what) { return put(what); }, entry);
      if (!done) log(Level::error, "an incident could not be kept: {}", done.error().message);
      lock.lock();
      lost += !done;
    }
  }

  Result<void> put(const Entry& entry) const {
    TRY(store->put(entry.incident, std::span(&entry.transition, 1), entry.words, entry.now));
    if (delivery && !entry.words.empty()) delivery->wake();
    return {};
  }
  Result<void> put(const store::Silence& silence) const {
    TRY(store->silence(silence));
    return {};
  }

  void add(std::variant<Entry, store::Silence> entry) {
    const std::lock_guard lock(mutex);
    if (waiting.size() >= kMostWaiting) {
      waiting.pop_front();
      ++lost;
    }
    waiting.push_back(std::move(entry));
    changed.notify_one();
  }
};

IncidentJournal::IncidentJournal(std::unique_ptr<Body> body) : body_(std::move(body)) {}

Result<std::unique_ptr<IncidentJournal>> IncidentJournal::open(store::IncidentStoreOptions options,
                                                               std::vector<notify::Receiver> receivers) {
  auto body = std::make_unique<Body>();
  auto opened = store::IncidentStore::open(options);
  if (!opened && !options.path.empty()) {
    body->why_in_memory = fmt::format("{}: {}", options.path, opened.error().message);
    log(Level::warning, "incidents are kept in memory alone: {}", body->why_in_memory);
    options.path.clear();
    opened = store::IncidentStore::open(options);
  }
  if (!opened) return tl::unexpected(opened.error());
  body->store = std::move(*opened);
  std::vector<std::string> names;
  for (const notify::Receiver& receiver : receivers) names.push_back(receiver.name);
  TRY(body->store->keep_notifiers(names));
  if (!receivers.empty()) {
    TRY_ASSIGN(body->delivery, notify::Delivery::start(std::move(receivers), outbox_in(body->store)));
  }
  Body* const b = body.get();
  try {
    body->thread = std::thread([b] { b->run(); });
  } catch (const std::system_error& error) {
    return fail(Code::busy, "no thread for incidents: {}", error.what());
  }
  return std::unique_ptr<IncidentJournal>(new IncidentJournal(std::move(body)));
}

IncidentJournal::~IncidentJournal() {
  {
    const std::lock_guard lock(body_->mutex);
    body_->is_ending = true;
    body_->changed.notify_one();
  }
  body_->thread.join();
}

Result<IncidentJournal::Restored> IncidentJournal::restore(Ns now) {
  constexpr i64 kMost = 1000;
  Restored restored;
  TRY_ASSIGN(const std::vector<store::StoredIncident> all, body_->store->newest(kMost));
  for (const store::StoredIncident& each : all) {
    auto incident = wire::read_incident(each.text);
    if (incident)
      restored.incidents.push_back(std::move(*incident));
    else
      restored.notes.add("incident_not_read", Severity::loss,
                         "incidents of before cannot be read: " + incident.error().message);
  }
  std::ranges::sort(restored.incidents, {}, &respond::Incident::opened);
  TRY_ASSIGN(const std::vector<store::Silence> silences, body_->store->silences(now));
  for (const store::Silence& s : silences)
    restored.silences.push_back({.rule = s.rule,
                                 .job = s.job,
                                 .host = s.host,
                                 .user = s.user,
                                 .until = s.until,
                                 .reason = s.reason,
                                 .by = s.by});
  return restored;
}

void IncidentJournal::put(const respond::IncidentChange& change, Ns now) {
  // What gathers only may be nothing yet; after a restart its conditions are said again.
  if (change.incident.state == respond::IncidentState::pending) return;
  const std::string text = wire::incident_text(change.incident);
  Entry entry{.incident = stored(change.incident, text),
              .transition = {.at = now,
                             .from = respond::state_name(change.from),
                             .to = respond::state_name(change.incident.state),
                             .why = change.why},
              .words = {},
              .now = now};
  if (change.word != respond::Word::none && body_->delivery) {
    for (const std::string& notifier : body_->delivery->names()) {
      store::OutboxRow& row = entry.words.emplace_back();
      row.incident = entry.incident.id;
      row.notifier = notifier;
      row.sequence = change.incident.sequence;
      row.occasion = notify::occasion_name(occasion_of(change.word));
      row.is_last = change.word == respond::Word::resolved;
      row.is_urgent = change.incident.urgency == respond::Urgency::critical;
      row.text = text;
      row.put = now;
    }
  }
  body_->add(std::move(entry));
}

void IncidentJournal::put(const respond::Silence& s) {
  store::Silence silence;
  silence.rule = s.rule;
  silence.job = s.job;
  silence.host = s.host;
  silence.user = s.user;
  silence.until = s.until;
  silence.reason = s.reason;
  silence.by = s.by;
  body_->add(std::move(silence));
}

std::vector<notify::NotifierState> IncidentJournal::notifiers() const {
  return body_->delivery ? body_->delivery->state() : std::vector<notify::NotifierState>();
}

const std::string& IncidentJournal::why_in_memory() const { return body_->why_in_memory; }

i64 IncidentJournal::lost() const {
  const std::lock_guard lock(body_->mutex);
  return body_->lost;
}

}  // namespace spotter::agent
