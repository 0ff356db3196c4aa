// Reads a history: one table for each kind of thing that was sampled, over a range of time. Any thread, any
// process, while an agent writes: each query has a read-only connection and sees one moment.
#pragma once
#include <string>
#include <vector>

#include "store/history.h"
#include "table/selection.h"
#include "table/table.h"

namespace spotter::store {

struct HistoryQuery {
  Ns from_unix_ns = 0, to_unix_ns = 0;  // [from, to)
  table::Selection selection = {};
  // The coarsest tier with at most this step, 0: the finest; or the next coarser one that goes back far
  // enough.
  Ns step = 0;
  i64 most_cells = 4'000'000;  // more is an error, and what is read is bounded by it
};

// A table has the columns `time_ns` (Unix time), its keys, its details and the wanted metrics, those of all
// versions of it that the range holds, in the order of the newest. Rows are ordered by key, then time. In a
// longer step than that of the samples a measured number is its mean, and NAME_min and NAME_max stand behind
// it; of counters, texts and flags the last value is given, and the row's time is that of the last sample.
// Tables of events come as they were sampled. Tables without rows are left out. What could not be read is in
// the tables' notes.
//
// Errors: invalid (the query; more than most_cells), those of open_history_to_read() and of SQLite.
Result<std::vector<Table>> query(const std::string& path, const HistoryQuery& query);
// With what is in memory. A query waits for an append() that writes, and append() for copying what is in
// memory, not for the query.
Result<std::vector<Table>> query(History& history, const HistoryQuery& query);

// The catalogue. A series or job is in it once its first block is written.
enum class CatalogueTable : u8 { series, jobs, captures, events };
Result<CatalogueTable> parse_catalogue_table(const std::string& name);  // Errors: invalid.
Result<Table> read_catalogue(const std::string& path, CatalogueTable which);

}  // namespace spotter::store
