#include "store/catalogue.h"

#include <algorithm>

#include "base/saturated.h"
#include "base/time.h"
#include "store/json_row.h"

namespace spotter::store {
namespace {

constexpr Ns kGrain = 10 * kMinute;         // how exact last_seen_ns is while the agent runs
constexpr size_t kMostRemembered = 20'000;  // entries of last_written_, of 100 bytes

bool is_key(const StoredField& field) { return field.role == Role::key; }

std::string as_text(const Value& value) {
  if (const i64* whole = std::get_if<i64>(&value)) return std::to_string(*whole);
  const auto* text = std::get_if<std::string_view>(&value);
  return std::string(text ? *text : std::string_view());
}

void add_job(Seen& seen, const Block& block, size_t row, size_t job_column, size_t user_column,
             size_t rank_column) {
  const std::string name = as_text(block.at(row, job_column));
  if (name.empty()) return;
  const Ns time = block.times[row];
  const auto [it, is_new] = seen.jobs.try_emplace(name, Seen::Job{{}, {}, time, time});
  Seen::Job& job = it->second;
  job.first = std::min(job.first, time);
  job.last = std::max(job.last, time);
  if (user_column < block.columns.size() && job.user.empty()) job.user = as_text(block.at(row, user_column));
  if (rank_column == block.columns.size()) return;
  const Value rank = block.at(row, rank_column);
  if (const i64* number = std::get_if<i64>(&rank)) job.ranks.insert(*number);
}

}  // namespace

Seen seen_in(const Block& block) {
  Seen seen{block.schema->table, {}, {}};
  const Schema& schema = *block.schema;
  const size_t job = schema.find("job"), user = schema.find("user"), rank = schema.find("rank");
  const Grouping grouping = group(block);
  for (size_t i = 0; i < grouping.entities(); ++i) {
    const std::span<const u32> rows = grouping.of(i);
    if (!schema.is_events)
      seen.series.push_back(
          {json_row(block, rows.front(), is_key), block.times[rows.front()], block.times[rows.back()]});
    if (job == schema.fields.size()) continue;
    for (const u32 row : rows) add_job(seen, block, row, job, user, rank);
  }
  return seen;
}

Result<Catalogue> Catalogue::open(Database& database, i64 most_bytes) {
  Catalogue catalogue(database);
  catalogue.most_series_ = std::clamp<i64>(most_bytes / 2048, 500, 100'000);
  catalogue.most_others_ = std::clamp<i64>(most_bytes / 16384, 60, 10'000);
  TRY_ASSIGN(
      catalogue.series_,
      database.prepare(
          "INSERT INTO series(table_name, keys, first_seen_ns, last_seen_ns, recorded_ns) "
          "VALUES(?, ?, ?, ?, ?) ON CONFLICT(table_name, keys) DO UPDATE SET "
          "first_seen_ns = min(first_seen_ns, excluded.first_seen_ns), "
          "last_seen_ns = max(last_seen_ns, excluded.last_seen_ns), recorded_ns = excluded.recorded_ns"));
  TRY_ASSIGN(
      catalogue.job_,
      database.prepare(
          "INSERT INTO jobs(job, user, first_seen_ns, last_seen_ns, recorded_ns) "
          "VALUES(?, nullif(?, ''), ?, ?, ?) ON CONFLICT(job) DO UPDATE SET "
          "user = coalesce(excluded.user, user), first_seen_ns = min(first_seen_ns, excluded.first_seen_ns), "
          "last_seen_ns = max(last_seen_ns, excluded.last_seen_ns), recorded_ns = excluded.recorded_ns"));
  TRY_ASSIGN(catalogue.rank_, database.prepare("INSERT OR IGNORE INTO job_ranks(job, rank) VALUES(?, ?)"));
  TRY_ASSIGN(catalogue.event_,
             database.prepare("INSERT INTO events(time_ns, recorded_ns, table_name, row, schema, data) "
                              "VALUES(?, ?, ?, ?, ?, ?)"));
  TRY_ASSIGN(catalogue.capture_,
             database.prepare(
                 "INSERT INTO captures(id, began_ns, asked_by, job, processes, output, state) "
                 "VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET began_ns = excluded.began_ns, "
                 "asked_by = excluded.asked_by, job = excluded.job, processes = excluded.processes, "
                 "output = excluded.output, state = excluded.state"));
  return catalogue;
}

// Where the disk is full it stays as it is: samples matter more.
Result<void> Catalogue::end_captures() {
  const Result<void> told = database_->run(
      fmt::format("UPDATE captures SET state = '{}' WHERE state = '{}'", kCaptureIsLost, kCaptureRuns)
          .c_str());
  return !told && told.error().code == Code::corrupt ? told : Result<void>();
}

Result<void> Catalogue::add(const Seen& seen, Ns recorded, bool is_last) {
  for (const Seen::Series& series : seen.series) {
    const auto [it, is_new] = last_written_.try_emplace(seen.table + '\n' + series.keys, series.last);
    const Ns age = subtract_saturated(series.last, it->second);
    if (!is_new && !is_last && age >= 0 && age < kGrain) continue;
    it->second = series.last;
    TRY(series_
            .bind(std::string_view(seen.table), std::string_view(series.keys), series.first, series.last,
                  recorded)
            .run());
  }
  if (last_written_.size() > kMostRemembered) last_written_.clear();
  for (const auto& [name, job] : seen.jobs) {
    TRY(job_.bind(std::string_view(name), std::string_view(job.user), job.first, job.last, recorded).run());
    for (const i64 rank : job.ranks) {
      TRY(rank_.bind(std::string_view(name), rank).run());
    }
  }
  return {};
}

Result<void> Catalogue::add(const Event& event, i64 schema, Ns recorded) {
  TRY(add(event.seen, recorded, false));
  return event_
      .bind(event.time, recorded, std::string_view(event.schema->table), std::string_view(event.row), schema,
            Statement::as_blob(event.bytes))
      .run();
}

Result<void> Catalogue::add(const CaptureNote& capture) {
  return capture_
      .bind(std::string_view(capture.id), capture.began_unix_ns, std::string_view(capture.asked_by),
            std::string_view(capture.job), capture.processes, std::string_view(capture.output),
            std::string_view(capture.state))
      .run();
}

Result<void> Catalogue::trim(Ns recorded_before) {
  for (const char* table : {"series", "jobs", "events"})
    TRY(database_->run(fmt::format("DELETE FROM {} WHERE recorded_ns < {}", table, recorded_before).c_str()));
  const std::pair<const char*, i64> limits[] = {
      {"series", most_series_}, {"jobs", most_others_}, {"events", most_others_}, {"captures", most_others_}};
  for (const auto& [table, most] : limits) {
    TRY_ASSIGN(const i64 rows, database_->integer(fmt::format("SELECT count(*) FROM {}", table)));
    if (rows <= most) continue;
    const char* order = std::string_view(table) == "captures" ? "rowid" : "recorded_ns";
    TRY(database_->run(
        fmt::format("DELETE FROM {0} WHERE rowid IN (SELECT rowid FROM {0} ORDER BY {1} LIMIT {2})", table,
                    order, rows - most)
            .c_str()));
  }
  return database_->run("DELETE FROM job_ranks WHERE job NOT IN (SELECT job FROM jobs)");
}

}  // namespace spotter::store
