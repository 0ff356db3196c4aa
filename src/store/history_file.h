// The file of a history: opened, locked, laid out. One process writes it (database_file.h); any number read
// it at the same time.
//
// What is no history, or one of a later version, is an error and stays as it is: the path may be a mistake.
// One of an earlier version is brought up to date (layout.h) by who writes it. A history that is damaged is
// moved to NAME.corrupt (in place of an older one) and begun anew: an agent that nobody watches has to go on
// recording.
#pragma once
#include <string>

#include "base/system/descriptor.h"
#include "store/database.h"
#include "store/database_file.h"

namespace spotter::store {

inline constexpr i64 kPageBytes = 4096;
inline constexpr i64 kLeastFileBytes = i64{1} << 20;

struct HistoryFile {
  std::string path;
  Descriptor lock;
  Database database;
  std::string moved_to;  // where a damaged one has gone; empty: there was none
  FileIdentity identity;
};

// How the size is shared: SQLite writes to NAME-wal first, and NAME-unwritten has what is in memory. The rest
// is the file itself.
i64 wal_bytes(i64 most_bytes);
i64 journal_bytes(i64 most_bytes);
i64 most_pages(i64 most_bytes);

// Errors: busy (another process writes it), invalid (no history), unsupported (a later version's), those of
// SQLite.
Result<HistoryFile> open_history_file(const std::string& path, i64 most_bytes);
// Whether its path still leads to what is open. False once somebody has removed it, or put another file in
// its place: nobody would find what is written from then on.
bool is_in_place(const HistoryFile& file);
// Moves the damaged file aside and begins anew. Nothing prepared on its database may be in use any more.
Result<void> begin_anew(HistoryFile& file, i64 most_bytes);

// Errors: not_found, invalid, unsupported (another version's), those of SQLite.
Result<Database> open_history_to_read(const std::string& path);

}  // namespace spotter::store
