// The catalogue of a history: which series and jobs there were and when, what happened, and what was
// captured. One thread; whoever writes has begun a transaction.
#pragma once
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "store/database.h"
#include "store/series/block.h"

namespace spotter::store {

// A capture, as its receipts say; noted again under its id when it goes on. Whoever opens the history to
// write is another agent than the one that noted what is running there: Catalogue::open() makes it lost.
inline constexpr const char* kCaptureRuns = "running";
inline constexpr const char* kCaptureIsLost = "lost";
struct CaptureNote {
  std::string id;
  Ns began_unix_ns = 0;
  std::string asked_by, job;
  i64 processes = 0;
  std::string output, state;
};

// Who is in a block: its entities, and the jobs of a column `job` with those of `user` and `rank`.
struct Seen {
  struct Series {
    std::string keys;  // JSON
    Ns first = 0, last = 0;
  };
  struct Job {
    std::string user;
    std::set<i64> ranks;
    Ns first = 0, last = 0;
  };
  std::string table;
  std::vector<Series> series;
  std::map<std::string, Job> jobs;
};
Seen seen_in(const Block& block);

// A row of a table of events.
struct Event {
  Ns time = 0;  // its first column of Role::time; of the batch where that is null, or there is none
  SharedSchema schema;
  std::string row;    // JSON
  std::string bytes;  // the same, encoded as a block
  Seen seen;
};

class Catalogue {
 public:
  // `database` outlives it. The size of the file says how many rows it may have.
  static Result<Catalogue> open(Database& database, i64 most_bytes);

  // Captures that ran are lost: who wrote of them has ended. Errors: corrupt.
  Result<void> end_captures();

  // When a series was last seen is written every ten minutes only, and where `is_last`.
  Result<void> add(const Seen& seen, Ns recorded, bool is_last);
  Result<void> add(const Event& event, i64 schema, Ns recorded);
  Result<void> add(const CaptureNote& capture);
  // Takes out series, jobs and events that are older than that, and of all what is too much, the oldest
  // first.
  Result<void> trim(Ns recorded_before);
  void forget() { last_written_.clear(); }  // after a transaction that was not committed

 private:
  explicit Catalogue(Database& database) : database_(&database) {}

  Database* database_;
  i64 most_series_ = 0, most_others_ = 0;
  Statement series_, job_, rank_, event_, capture_;
  std::unordered_map<std::string, Ns> last_written_;  // by table and keys
};

}  // namespace spotter::store
