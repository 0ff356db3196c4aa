// IncidentStore: what an agent remembers of incidents and owes to notifiers, in one SQLite file. It is small,
// and each change is on the disk when its function returns: kill -9 and a loss of power lose nothing that was
// taken. Each function is one transaction.
//
// What is no such file, or one of a later version, is an error and stays as it is. A damaged one is moved to
// NAME.corrupt and begun anew, when it is opened or later: what went wrong now matters more than what was.
// The same where the file was removed while it was open.
//
// Any thread may call any function, one at a time runs. Incidents are text here: of what, agent/ knows.
#pragma once
#include <memory>
#include <mutex>
#include <span>

#include "store/changes.h"
#include "store/database_file.h"
#include "store/incident_rows.h"
#include "store/outbox.h"
#include "store/silences.h"

namespace spotter::store {

inline constexpr size_t kMostIncidentBytes = size_t{256} << 10;  // of one text

struct IncidentStoreOptions {
  std::string path;                // empty: in memory alone, for a host that has no disk to write to
  i64 most_bytes = i64{64} << 20;  // of the file; the oldest closed incidents go first
  IncidentLimits limits = {};
  ChangeLimits changes = {};
};

struct IncidentStoreState {
  i64 overtaken = 0;      // words that a newer one took the place of before they were delivered
  i64 damaged_files = 0;  // that were moved aside, or removed by others; then it begins anew
  std::string moved_to;   // where the last damaged one is
  i64 failures = 0;
  std::string last_error;  // empty: the last call did not fail
};

class IncidentStore {
 public:
  // Errors: busy (another process writes it), invalid, unsupported, those of SQLite.
  static Result<std::unique_ptr<IncidentStore>> open(IncidentStoreOptions options);
  ~IncidentStore();
  IncidentStore(const IncidentStore&) = delete;
  IncidentStore& operator=(const IncidentStore&) = delete;

  // An incident as it is now, how it came to be so, and who is to be told: all or nothing. Errors: invalid (a
  // text is too long), io (also: the file is full and nothing can go).
  Result<void> put(const StoredIncident& incident, std::span<const Transition> transitions,
                   std::span<const OutboxRow> words, Ns now);
  Result<std::vector<StoredIncident>> newest(i64 most);
  Result<std::vector<StoredIncident>> open_ones();
  Result<std::optional<StoredIncident>> find(const std::string& id);
  Result<std::vector<Transition>> transitions(const std::string& id);
  Result<std::vector<std::pair<std::string, i64>>> keys();  // how often there was one of each

  // As in outbox.h.
  Result<std::vector<OutboxRow>> due(const std::string& notifier, Ns now, i64 most);
  Result<std::optional<Ns>> next_due(const std::string& notifier);
  Result<i64> waiting(const std::string& notifier);
  Result<void> begin_attempt(std::span<const OutboxRow> rows, Ns now);
  Result<void> put_off(std::span<const OutboxRow> rows, Ns next, bool in_doubt);  // or if it was so before
  Result<void> tick_off(std::span<const OutboxRow> rows, Ns again);               // with each one's `kept`
  Result<void> drop(std::span<const OutboxRow> rows);
  Result<i64> keep_notifiers(const std::vector<std::string>& names);

  Result<i64> silence(const Silence& silence);
  Result<bool> end_silence(i64 id, Ns now);
  Result<std::vector<Silence>> silences(Ns now);

  // As in changes.h.
  Result<bool> add_change(const StoredChange& change, Ns now);
  Result<std::vector<StoredChange>> changes();
  Result<void> keep_facts(const std::string& of, const KnownFacts& facts, Ns now);
  Result<KnownFacts> facts(const std::string& of);

  IncidentStoreState state() const;

 private:
  explicit IncidentStore(IncidentStoreOptions options) : options_(std::move(options)) {}
  Result<void> open_file();
  Result<void> open_or_begin_anew();
  Result<void> begin_anew();
  template <class Work>
  auto run(Work work) -> decltype(work());
  template <class Each>
  Result<void> for_each(std::span<const OutboxRow> rows, Each each);
  Result<void> make_room();

  mutable std::mutex mutex_;
  IncidentStoreOptions options_;
  Descriptor lock_;
  Database database_;
  FileIdentity identity_;
  bool is_open_ = false;  // an attempt to begin anew may have failed
  Ns trimmed_ = 0;
  IncidentStoreState state_;
};

}  // namespace spotter::store
