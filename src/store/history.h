// History: what an agent remembers of its samples, in one SQLite file (history_file.h). Samples gather in
// memory, by table, until the block of the finest tier is full; then all its columns are written at once, and
// coarser tiers are made from what is written. Until then a journal beside the file has them, too
// (journal.h): a process that is killed loses nothing that it had appended. Queries: history_query.h.
//
// Of tables of events (Table::is_events) each row is written at once to the catalogue, not to blocks.
//
// Any thread may call any function, one at a time runs; append() takes microseconds, but once a minute
// milliseconds, and where the disk is slow as long as that takes: not for a loop that must not block.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "base/time.h"
#include "store/catalogue.h"
#include "store/history_file.h"
#include "store/journal.h"
#include "store/retention.h"
#include "table/batch.h"

namespace spotter::store {

struct HistoryOptions {
  std::string path;
  std::vector<Tier> tiers = {
      {kSecond, kHour, kMinute}, {10 * kSecond, kDay, 10 * kMinute}, {kMinute, 30 * kDay, kHour}};
  i64 most_bytes = i64{256} << 20;  // of NAME, NAME-wal, NAME-shm and NAME-unwritten together
};

struct HistoryState {
  i64 rows = 0;               // taken
  i64 blocks = 0;             // written, of the finest tier
  i64 waiting_bytes = 0;      // blocks that could not be written yet, and are kept in memory
  i64 waiting_rows = 0;       // rows and events that are in memory alone
  i64 lost_rows = 0;          // that had to go before they could be written, or cannot be
  i64 lost_events = 0;        // the same
  i64 damaged_blocks = 0;     // that could not be read for the coarser tier
  i64 failures = 0;           // attempts to write
  std::string last_error;     // empty: the last attempt did not fail
  std::string journal_error;  // why there is no journal now; empty: there is one
  i64 lost_files = 0;         // that were removed or replaced while they were open; then it begins anew
  i64 damaged_files = 0;      // that were moved aside; then it begins anew
  std::string moved_to;       // where the last one is
};

class History {
 public:
  // Errors: those of open_history_file(); invalid (the options).
  static Result<std::unique_ptr<History>> open(HistoryOptions options);
  ~History();  // flushes
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  // Takes the batch's rows, and writes what is full. Errors are those of writing: the rows are kept in
  // memory, up to kMostWaiting, and written when that is possible again; it is tried once in ten seconds.
  Result<void> append(const Batch& batch);
  Result<void> flush();  // writes all there is
  Result<void> note_capture(const CaptureNote& capture);

  HistoryState state() const;
  const std::string& path() const { return options_.path; }

  // For history_query.h. Calls `begin`, which begins a read transaction of its own, and gives the blocks that
  // this transaction does not see, packed: no block is in both, and none in neither.
  Result<std::vector<PackedBlock>> unwritten(const std::function<bool(const Schema&)>& wanted,
                                             const std::function<Result<void>()>& begin);

 private:
  static constexpr i64 kMostWaiting = i64{1} << 20;  // bytes of packed blocks
  static constexpr size_t kMostEvents = 1000;        // that wait
  static constexpr Ns kTrim = kHour;                 // how often the catalogue is trimmed

  struct Open {
    // Whether its rows go on in the block: a look at one place where that is known, at all columns where not.
    bool is_of(const Table& table) const;

    std::unique_ptr<Block> block;
    const Field* columns = nullptr;  // lasting_schema() of the table that the block is of, where it has one
    i64 window = 0;                  // of the finest tier's blocks
    Ns period = 0;                   // the least of its batches
    size_t journaled = 0;            // rows of the block
  };
  struct Waiting {
    PackedBlock block;
    Seen seen;
    i64 bytes() const { return std::ssize(block.bytes) + 128 * std::ssize(seen.series); }  // about
  };

  explicit History(HistoryOptions options)
      : options_(std::move(options)),
        journal_(options_.path + "-unwritten", journal_bytes(options_.most_bytes)),
        retention_(options_.tiers, options_.most_bytes) {}
  Result<void> open_file();
  Result<void> begin_anew();
  Result<void> prepare();
  Result<void> take_journal();
  Result<void> prepare_journal();
  void begin_journal();
  void append_to_journal();
  void advance(Ns unix_ns, Ns period);
  void take_row(Open& open, Ns time, Ns period);
  void take(const Table& table, const Batch& batch);
  void take_events(const Table& table, Ns time);
  void close(Open& open);
  Result<PackedBlock> packed(const Open& open) const;
  Result<void> write(bool is_last);
  Result<void> write_waiting(bool is_last);
  Result<void> tidy();
  void drop_waiting();
  Result<void> failed(Error error);

  mutable std::mutex mutex_;
  HistoryOptions options_;
  HistoryFile file_;
  Journal journal_;
  std::unique_ptr<Blocks> blocks_;  // before file_ goes
  std::unique_ptr<Catalogue> catalogue_;
  Retention retention_;
  std::unordered_map<std::string, Open> open_;  // by table
  std::vector<Value> row_;                      // that is being taken
  std::deque<Waiting> waiting_;
  std::deque<Event> events_;
  Ns recorded_ = 0, last_unix_ = 0;
  bool has_last_ = false;
  bool is_failing_ = false;
  Ns tried_ = 0;                 // recorded time of the last attempt that failed
  std::vector<i64> folded_for_;  // of each tier but the first: the window for which it was last made
  Ns trimmed_ = -kTrim;
  HistoryState state_;
};

}  // namespace spotter::store
