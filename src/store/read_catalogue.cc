// The catalogue's tables, as they are declared in history_query.h.
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "base/text/utf8.h"
#include "store/history_query.h"

namespace spotter::store {
namespace {

constexpr Field kSeries[] = {
    {"table", Type::text, Unit::none, Role::key, "The table that it is a row of."},
    {"keys", Type::text, Unit::none, Role::key, "Its keys, as JSON."},
    {"first_seen_ns", Type::integer, Unit::ns, Role::time, "When it was sampled first, Unix time."},
    {"last_seen_ns", Type::integer, Unit::ns, Role::time,
     "When it was sampled last, Unix time; ten minutes early at most while the agent runs."},
};
constexpr Field kJobs[] = {
    {"job", Type::text, Unit::none, Role::key, "The job."},
    {"user", Type::text, Unit::none, Role::detail, "Whose it is."},
    {"first_seen_ns", Type::integer, Unit::ns, Role::time, "When it was seen first, Unix time."},
    {"last_seen_ns", Type::integer, Unit::ns, Role::time, "When it was seen last, Unix time."},
    {"ranks", Type::text, Unit::none, Role::detail, "Its ranks that were seen on this machine."},
};
constexpr Field kCaptures[] = {
    {"id", Type::text, Unit::none, Role::key, "The capture."},
    {"began_ns", Type::integer, Unit::ns, Role::time, "When it was asked for, Unix time."},
    {"asked_by", Type::text, Unit::none, Role::detail, "Who asked for it."},
    {"job", Type::text, Unit::none, Role::detail, "The job that was captured."},
    {"processes", Type::integer, Unit::count, Role::value, "How many processes were asked."},
    {"output", Type::text, Unit::none, Role::detail, "Where the files went."},
    {"state", Type::text, Unit::none, Role::detail,
     "What became of it: running, written, partly written, failed, or lost, where the agent ended first."},
};
constexpr Field kEvents[] = {
    {"time_ns", Type::integer, Unit::ns, Role::time, "When it happened, Unix time."},
    {"table", Type::text, Unit::none, Role::key, "The table that it is a row of."},
    {"row", Type::text, Unit::none, Role::detail, "What happened, as JSON."},
};

struct CatalogueKind {
  std::string_view name;
  std::span<const Field> schema;
  const char* sql;  // its columns in order
};

constexpr CatalogueKind kKinds[] = {
    // in the order of CatalogueTable
    {"series", kSeries,
     "SELECT table_name, keys, first_seen_ns, last_seen_ns FROM series ORDER BY table_name, keys"},
    {"jobs", kJobs,
     "SELECT job, user, first_seen_ns, last_seen_ns, (SELECT group_concat(rank, ',') FROM "
     "(SELECT rank FROM job_ranks WHERE job_ranks.job = jobs.job ORDER BY rank)) "
     "FROM jobs ORDER BY first_seen_ns, job"},
    {"captures", kCaptures,
     "SELECT id, began_ns, asked_by, job, processes, output, state FROM captures ORDER BY began_ns, id"},
    {"events", kEvents, "SELECT time_ns, table_name, row FROM events ORDER BY time_ns, id"},
};

}  // namespace

Result<CatalogueTable> parse_catalogue_table(const std::string& name) {
  const auto kind = std::ranges::find(kKinds, std::string_view(name), &CatalogueKind::name);
  if (kind != std::end(kKinds)) return static_cast<CatalogueTable>(kind - kKinds);
  return fail(Code::invalid, "\"{}\" is none of {}", to_printable(name),
              fmt::join(kKinds | std::views::transform(&CatalogueKind::name), ", "));
}

Result<Table> read_catalogue(const std::string& path, CatalogueTable which) {
  const CatalogueKind& kind = kKinds[static_cast<size_t>(which)];
  TRY_ASSIGN(Database database, open_history_to_read(path));
  TRY_ASSIGN(Statement rows, database.prepare(kind.sql));
  Table table(std::string(kind.name), kind.schema);
  std::vector<Value> values;
  for (;;) {
    TRY_ASSIGN(const bool is_row, rows.step());
    if (!is_row) return table;
    values.clear();
    for (int i = 0; i < std::ssize(kind.schema); ++i) {
      if (rows.is_null(i)) {
        values.push_back({});
      } else if (kind.schema[static_cast<size_t>(i)].type == Type::text) {
        values.push_back(rows.text(i));
      } else {
        values.push_back(rows.integer(i));
      }
    }
    table.append(values);
  }
}

}  // namespace spotter::store
