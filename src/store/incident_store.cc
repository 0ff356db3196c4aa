#include "store/incident_store.h"

#include <algorithm>

#include "base/log.h"
#include "base/text/utf8.h"
#include "store/layout.h"

namespace spotter::store {
namespace {

constexpr DatabaseKind kKind{0x53504f49, "memory of incidents"};  // "SPOI"
constexpr i64 kPage = 4096;
constexpr Ns kTrim = kHour;  // how often what is over its time goes

// As in layout.cc: what has been released is never changed.
constexpr const char* kSteps[] = {R"(
CREATE TABLE incidents(id TEXT PRIMARY KEY, key TEXT NOT NULL, n INTEGER NOT NULL, state TEXT NOT NULL,
  opened INTEGER NOT NULL, updated INTEGER NOT NULL, closed INTEGER NOT NULL, text TEXT NOT NULL);
CREATE INDEX incidents_by_opening ON incidents(opened);
CREATE INDEX incidents_by_closing ON incidents(closed);
CREATE TABLE keys(key TEXT PRIMARY KEY, n INTEGER NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE transitions(id INTEGER PRIMARY KEY, incident TEXT NOT NULL, at INTEGER NOT NULL,
  from_state TEXT NOT NULL, to_state TEXT NOT NULL, why TEXT NOT NULL);
CREATE INDEX transitions_by_incident ON transitions(incident, id);
CREATE TABLE outbox(incident TEXT NOT NULL, notifier TEXT NOT NULL, sequence INTEGER NOT NULL,
  occasion TEXT NOT NULL, is_last INTEGER NOT NULL, is_urgent INTEGER NOT NULL, text TEXT NOT NULL,
  put INTEGER NOT NULL, attempts INTEGER NOT NULL, first_attempt INTEGER NOT NULL,
  next_attempt INTEGER NOT NULL, in_doubt INTEGER NOT NULL, is_told INTEGER NOT NULL,
  PRIMARY KEY(incident, notifier, sequence));
CREATE INDEX outbox_by_time ON outbox(notifier, next_attempt);
CREATE TABLE told(incident TEXT NOT NULL, notifier TEXT NOT NULL, sequence INTEGER NOT NULL,
  kept TEXT NOT NULL, PRIMARY KEY(incident, notifier)) WITHOUT ROWID;
CREATE TABLE silences(id INTEGER PRIMARY KEY AUTOINCREMENT, rule TEXT NOT NULL, job TEXT NOT NULL,
  host TEXT NOT NULL, user TEXT NOT NULL, made INTEGER NOT NULL, until INTEGER NOT NULL,
  reason TEXT NOT NULL, made_by TEXT NOT NULL);
)",
                                  R"(
CREATE TABLE changes(id INTEGER PRIMARY KEY, at INTEGER NOT NULL, put INTEGER NOT NULL, kind TEXT NOT NULL,
  what TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL, made_by TEXT NOT NULL, link TEXT NOT NULL,
  job TEXT NOT NULL, hosts TEXT NOT NULL);
CREATE INDEX changes_by_time ON changes(at);
CREATE TABLE facts(of TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, since INTEGER NOT NULL,
  used INTEGER NOT NULL, PRIMARY KEY(of, name)) WITHOUT ROWID;
)"};

Result<void> check_whole(Database& database) {
  TRY_ASSIGN(Statement check, database.prepare("PRAGMA quick_check(1)"));
  TRY(check.step());
  if (check.text(0) == "ok") return {};
  return fail(Code::corrupt, "{}: {}", database.path(), to_printable(check.text(0)));
}

}  // namespace

// FULL: each commit is synced. The mark is in the file itself before there is a log beside it
// (history_file.cc).
Result<void> IncidentStore::open_file() {
  const bool in_memory = options_.path.empty();
  const std::string path = in_memory ? ":memory:" : options_.path;
  is_open_ = false;
  TRY_ASSIGN(database_, Database::open(path, Database::Access::write));
  TRY_ASSIGN(const i64 id, database_.integer("PRAGMA application_id"));
  if (id != kKind.application_id) {
    TRY(database_.run(
        fmt::format("PRAGMA page_size = {}; PRAGMA application_id = {}", kPage, kKind.application_id)
            .c_str()));
  }
  TRY(database_.run(fmt::format("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "
                                "PRAGMA cache_size = -512; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; "
                                "PRAGMA journal_size_limit = {}; PRAGMA max_page_count = {}",
                                i64{1} << 20, std::max<i64>(options_.most_bytes / kPage, 64))
                        .c_str()));
  TRY(bring_up_to_date(database_, kSteps));
  TRY(check_whole(database_));
  if (!in_memory) {
    TRY_ASSIGN(identity_, identity_of(path));
  }
  is_open_ = true;
  return {};
}

Result<void> IncidentStore::open_or_begin_anew() {
  const Result<void> opened = open_file();
  if (opened || opened.error().code != Code::corrupt) return opened;
  log(Level::warning, "{}", opened.error().message);
  return begin_anew();
}

Result<void> IncidentStore::begin_anew() {
  database_ = {};
  is_open_ = false;
  ++state_.damaged_files;
  if (options_.path.empty()) return open_file();
  TRY_ASSIGN(state_.moved_to, move_aside(options_.path));
  log(Level::warning,
      "{} was damaged: it is {} now, and begun anew; what was to be told is told no more where it was not "
      "delivered",
      options_.path, state_.moved_to);
  return open_file();
}

// Damage that is found later, or a file that has gone, is mended once; work that fails has changed nothing.
template <class Work>
auto IncidentStore::run(Work work) -> decltype(work()) {
  const std::lock_guard lock(mutex_);
  const auto in_transaction = [&]() -> decltype(work()) {
    TRY_ASSIGN(Transaction transaction, Transaction::begin(database_));
    auto done = work();
    if (done) TRY(transaction.commit());
    return done;
  };
  const auto mended = [&]() -> decltype(work()) {
    if (!options_.path.empty() && (!is_open_ || !is_in_place(options_.path, identity_))) {
      if (is_open_) {
        ++state_.damaged_files;
        log(Level::warning, "{} was removed or replaced while it was open, and is opened anew",
            options_.path);
      }
      TRY(is_of_kind(kKind, options_.path));
      database_ = {};
      TRY(open_or_begin_anew());
    }
    auto done = in_transaction();
    if (done || done.error().code != Code::corrupt) return done;
    TRY(begin_anew());
    return in_transaction();
  };
  auto done = mended();
  if (done) {
    state_.last_error.clear();
  } else {
    ++state_.failures;
    state_.last_error = done.error().message;
  }
  return done;
}

Result<std::unique_ptr<IncidentStore>> IncidentStore::open(IncidentStoreOptions options) {
  std::unique_ptr<IncidentStore> store(new IncidentStore(std::move(options)));
  const std::string& path = store->options_.path;
  if (!path.empty()) {
    TRY(is_of_kind(kKind, path));
    TRY_ASSIGN(store->lock_, lock_database(path));
  }
  TRY(store->open_or_begin_anew());
  return store;
}

IncidentStore::~IncidentStore() = default;

// In a full file each deletion gives pages back to it.
Result<void> IncidentStore::make_room() {
  TRY_ASSIGN(const i64 incidents, database_.integer("SELECT count(*) FROM incidents WHERE closed > 0"));
  if (incidents == 0) return fail(Code::io, "{} is full of open incidents", options_.path);
  return remove_oldest(database_, std::max<i64>(incidents / 10, 1));
}

Result<void> IncidentStore::put(const StoredIncident& incident, std::span<const Transition> transitions,
                                std::span<const OutboxRow> words, Ns now) {
  const auto is_long = [](const OutboxRow& row) { return row.text.size() > kMostIncidentBytes; };
  if (incident.text.size() > kMostIncidentBytes || std::ranges::any_of(words, is_long))
    return fail(Code::invalid, "incident {}: its text is longer than {} KiB", incident.id,
                kMostIncidentBytes >> 10);
  i64 overtaken = 0;
  const auto work = [&]() -> Result<void> {
    overtaken = 0;
    if (now - trimmed_ >= kTrim || now < trimmed_) {
      TRY(trim_incidents(database_, now, options_.limits));
      trimmed_ = now;
    }
    TRY(put_incident(database_, incident));
    for (const Transition& transition : transitions)
      TRY(add_transition(database_, incident.id, transition, options_.limits.most_transitions));
    if (incident.closed > 0 && words.empty()) TRY(end_renewals(database_, incident.id));
    for (const OutboxRow& row : words) {
      TRY_ASSIGN(const i64 count, put_row(database_, row));
      overtaken += count;
    }
    return {};
  };
  Result<void> done = run(work);
  if (!done && done.error().code == Code::io && run([&] { return make_room(); })) done = run(work);
  const std::lock_guard lock(mutex_);
  if (done) state_.overtaken += overtaken;
  return done;
}

Result<std::vector<StoredIncident>> IncidentStore::newest(i64 most) {
  return run([&] { return newest_incidents(database_, most); });
}

Result<std::vector<StoredIncident>> IncidentStore::open_ones() {
  return run([&] { return open_incidents(database_); });
}

Result<std::optional<StoredIncident>> IncidentStore::find(const std::string& id) {
  return run([&] { return find_incident(database_, id); });
}

Result<std::vector<Transition>> IncidentStore::transitions(const std::string& id) {
  return run([&] { return transitions_of(database_, id); });
}

Result<std::vector<std::pair<std::string, i64>>> IncidentStore::keys() {
  return run([&] { return all_keys(database_); });
}

Result<std::vector<OutboxRow>> IncidentStore::due(const std::string& notifier, Ns now, i64 most) {
  return run([&] { return due_rows(database_, notifier, now, most); });
}

Result<std::optional<Ns>> IncidentStore::next_due(const std::string& notifier) {
  return run([&] { return store::next_due(database_, notifier); });
}

Result<i64> IncidentStore::waiting(const std::string& notifier) {
  return run([&] { return waiting_rows(database_, notifier); });
}

template <class Each>
Result<void> IncidentStore::for_each(std::span<const OutboxRow> rows, Each each) {
  return run([&]() -> Result<void> {
    for (const OutboxRow& row : rows) TRY(each(row));
    return {};
  });
}

Result<void> IncidentStore::begin_attempt(std::span<const OutboxRow> rows, Ns now) {
  return for_each(rows, [&](const OutboxRow& row) { return store::begin_attempt(database_, row, now); });
}

Result<void> IncidentStore::put_off(std::span<const OutboxRow> rows, Ns next, bool in_doubt) {
  i64 overtaken = 0;
  TRY(for_each(rows, [&](const OutboxRow& row) -> Result<void> {
    TRY_ASSIGN(const i64 count, store::put_off(database_, row, next, in_doubt || row.in_doubt));
    overtaken += count;
    return {};
  }));
  const std::lock_guard lock(mutex_);
  state_.overtaken += overtaken;
  return {};
}

Result<void> IncidentStore::tick_off(std::span<const OutboxRow> rows, Ns again) {
  return for_each(rows,
                  [&](const OutboxRow& row) { return store::tick_off(database_, row, row.kept, again); });
}

Result<void> IncidentStore::drop(std::span<const OutboxRow> rows) {
  return for_each(rows, [&](const OutboxRow& row) { return drop_row(database_, row); });
}

Result<i64> IncidentStore::keep_notifiers(const std::vector<std::string>& names) {
  return run([&] { return store::keep_notifiers(database_, names); });
}

Result<i64> IncidentStore::silence(const Silence& silence) {
  return run([&] { return add_silence(database_, silence); });
}

Result<bool> IncidentStore::add_change(const StoredChange& change, Ns now) {
  return run([&]() -> Result<bool> {
    TRY_ASSIGN(const bool is_new, store::add_change(database_, change, now));
    TRY(trim_changes(database_, now, options_.changes));
    return is_new;
  });
}

Result<std::vector<StoredChange>> IncidentStore::changes() {
  return run([&] { return all_changes(database_); });
}

Result<void> IncidentStore::keep_facts(const std::string& of, const KnownFacts& facts, Ns now) {
  return run([&]() -> Result<void> {
    TRY(store::keep_facts(database_, of, facts, now));
    return trim_changes(database_, now, options_.changes);
  });
}

Result<KnownFacts> IncidentStore::facts(const std::string& of) {
  return run([&] { return facts_of(database_, of); });
}

Result<bool> IncidentStore::end_silence(i64 id, Ns now) {
  return run([&] { return store::end_silence(database_, id, now); });
}

Result<std::vector<Silence>> IncidentStore::silences(Ns now) {
  return run([&] { return lasting_silences(database_, now); });
}

IncidentStoreState IncidentStore::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

}  // namespace spotter::store
