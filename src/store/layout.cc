#include "store/layout.h"

namespace spotter::store {
namespace {

// recorded_ns: how much had been recorded when it was written (History::advance); unlike the Unix time of the
// rows it never jumps. Ids are never used again: what has been folded is remembered by them.
constexpr const char* kSteps[] = {
    R"(
CREATE TABLE schemas(id INTEGER PRIMARY KEY, table_name TEXT NOT NULL, content BLOB NOT NULL UNIQUE);
CREATE TABLE blocks(id INTEGER PRIMARY KEY AUTOINCREMENT, step_ns INTEGER NOT NULL, schema INTEGER NOT NULL,
  begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, recorded_ns INTEGER NOT NULL, rows INTEGER NOT NULL,
  data BLOB NOT NULL);
CREATE INDEX blocks_by_step ON blocks(step_ns);
CREATE INDEX blocks_by_time ON blocks(step_ns, begin_ns, end_ns, schema);
CREATE TABLE folds(table_name TEXT NOT NULL, step_ns INTEGER NOT NULL, last_block INTEGER NOT NULL,
  PRIMARY KEY(table_name, step_ns)) WITHOUT ROWID;
CREATE TABLE series(id INTEGER PRIMARY KEY, table_name TEXT NOT NULL, keys TEXT NOT NULL,
  first_seen_ns INTEGER NOT NULL, last_seen_ns INTEGER NOT NULL, recorded_ns INTEGER NOT NULL,
  UNIQUE(table_name, keys));
CREATE TABLE jobs(job TEXT PRIMARY KEY, user TEXT, first_seen_ns INTEGER NOT NULL,
  last_seen_ns INTEGER NOT NULL, recorded_ns INTEGER NOT NULL);
CREATE TABLE job_ranks(job TEXT NOT NULL, rank INTEGER NOT NULL, PRIMARY KEY(job, rank)) WITHOUT ROWID;
CREATE TABLE events(id INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, recorded_ns INTEGER NOT NULL,
  table_name TEXT NOT NULL, row TEXT NOT NULL, schema INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX events_by_time ON events(time_ns);
CREATE TABLE captures(id TEXT PRIMARY KEY, began_ns INTEGER NOT NULL, asked_by TEXT NOT NULL, job TEXT NOT NULL,
  processes INTEGER NOT NULL, output TEXT NOT NULL, state TEXT NOT NULL);
)",
    // Of the journal that has what the blocks have not. 0: there is none.
    "CREATE TABLE journal(number INTEGER NOT NULL); INSERT INTO journal VALUES(0)",
};

tl::unexpected<Error> is_later(const Database& database) {
  return fail(Code::unsupported, "{} is of a later version of Spotter; give another path, or remove it",
              database.path());
}

// 0: of an empty file.
Result<i64> version_of(Database& database) {
  TRY_ASSIGN(const i64 version, database.integer("PRAGMA user_version"));
  if (version < 0) return fail(Code::corrupt, "{} is damaged: its version is {}", database.path(), version);
  return version;
}

}  // namespace

LayoutSteps layout_steps() { return kSteps; }

Result<void> bring_up_to_date(Database& database, LayoutSteps steps) {
  const i64 wanted = std::ssize(steps);
  TRY_ASSIGN(const i64 version, version_of(database));
  if (version > wanted) return is_later(database);
  if (version == wanted) return {};
  TRY_ASSIGN(Transaction transaction, Transaction::begin(database));
  for (i64 from = version; from < wanted; ++from) {
    const Result<void> taken = database.run(steps[static_cast<size_t>(from)]);
    if (!taken && version > 0)
      return within(taken.error(),
                    fmt::format("its layout cannot be brought from version {} to {}", from, from + 1));
    TRY(taken);
  }
  TRY(database.run(fmt::format("PRAGMA user_version = {}", wanted).c_str()));
  return transaction.commit();
}

Result<void> check_layout(Database& database, LayoutSteps steps) {
  const i64 wanted = std::ssize(steps);
  TRY_ASSIGN(const i64 version, version_of(database));
  if (version > wanted) return is_later(database);
  if (version == 0) return fail(Code::not_found, "{} is no history yet", database.path());
  if (version < wanted)
    return fail(
        Code::unsupported,
        "{} is of an earlier version of Spotter; an agent of this version that keeps its history there "
        "brings it up to date when it starts",
        database.path());
  return {};
}

}  // namespace spotter::store
