#include "store/outbox.h"

#include <algorithm>

namespace spotter::store {
namespace {

constexpr Ns kFarAhead = 10 * kMinute;
// In the column in_doubt, beside 1 for what an attempt left: another host has told of it, whatever becomes of
// attempts here.
constexpr i64 kElsewhere = 2;

// -1: it was never told anything of it.
Result<i64> told_sequence(Database& database, const OutboxRow& row) {
  TRY_ASSIGN(Statement told,
             database.prepare("SELECT sequence FROM told WHERE incident = ? AND notifier = ?"));
  TRY_ASSIGN(const bool is_there, told.bind(row.incident, row.notifier).step());
  return is_there ? told.integer(0) : -1;
}

Result<void> insert(Database& database, const OutboxRow& row, i64 in_doubt) {
  TRY_ASSIGN(Statement insert, database.prepare("INSERT INTO outbox(incident, notifier, sequence, occasion, "
                                                "is_last, is_urgent, text, put, attempts, first_attempt, "
                                                "next_attempt, in_doubt, is_told) "
                                                "VALUES(?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?, 0)"));
  return insert
      .bind(row.incident, row.notifier, row.sequence, row.occasion, i64{row.is_last}, i64{row.is_urgent},
            row.text, row.put, in_doubt)
      .run();
}

Result<Statement> of_row(Database& database, const char* begin) {
  return database.prepare(std::string(begin) + " WHERE incident = ? AND notifier = ? AND sequence = ?");
}

}  // namespace

Result<i64> put_row(Database& database, const OutboxRow& row) {
  TRY_ASSIGN(const i64 told, told_sequence(database, row));
  if (told >= row.sequence) return 0;
  TRY_ASSIGN(Statement old, database.prepare("SELECT sequence, in_doubt, is_told FROM outbox "
                                             "WHERE incident = ? AND notifier = ? ORDER BY sequence DESC"));
  TRY_ASSIGN(const bool waits, old.bind(row.incident, row.notifier).step());
  if (waits && old.integer(0) >= row.sequence) return 0;
  const i64 in_doubt = (row.in_doubt ? kElsewhere : 0) | (waits ? old.integer(1) : 0);
  const bool is_overtaken = waits && old.integer(2) == 0;
  old.reset();
  TRY_ASSIGN(Statement remove, database.prepare("DELETE FROM outbox WHERE incident = ? AND notifier = ?"));
  TRY(remove.bind(row.incident, row.notifier).run());
  if (row.is_last && told < 0 && in_doubt == 0) return i64{is_overtaken} + 1;
  TRY(insert(database, row, in_doubt));
  return i64{is_overtaken};
}

Result<std::vector<OutboxRow>> due_rows(Database& database, const std::string& notifier, Ns now, i64 most) {
  TRY_ASSIGN(Statement select,
             database.prepare("SELECT incident, sequence, occasion, is_last, is_urgent, text, put, attempts, "
                              "first_attempt, next_attempt, in_doubt, is_told, "
                              "(SELECT kept FROM told WHERE told.incident = outbox.incident "
                              "AND told.notifier = outbox.notifier) "
                              "FROM outbox WHERE notifier = ?1 "
                              "AND (next_attempt <= ?2 OR next_attempt > ?2 + ?4) "
                              "ORDER BY is_told, is_urgent DESC, next_attempt, put, incident LIMIT ?3"));
  select.bind(notifier, now, most, kFarAhead);
  std::vector<OutboxRow> rows;
  while (true) {
    TRY_ASSIGN(const bool is_there, select.step());
    if (!is_there) return rows;
    rows.push_back({.incident = std::string(select.text(0)),
                    .notifier = notifier,
                    .sequence = select.integer(1),
                    .occasion = std::string(select.text(2)),
                    .is_last = select.integer(3) != 0,
                    .is_urgent = select.integer(4) != 0,
                    .text = std::string(select.text(5)),
                    .put = select.integer(6),
                    .attempts = select.integer(7),
                    .first_attempt = select.integer(8),
                    .next_attempt = select.integer(9),
                    .in_doubt = select.integer(10) != 0,
                    .is_told = select.integer(11) != 0,
                    .kept = std::string(select.text(12))});
  }
}

Result<std::optional<Ns>> next_due(Database& database, const std::string& notifier) {
  TRY_ASSIGN(Statement select, database.prepare("SELECT min(next_attempt) FROM outbox WHERE notifier = ?"));
  TRY_ASSIGN(const bool is_there, select.bind(notifier).step());
  if (!is_there || select.is_null(0)) return std::nullopt;
  return select.integer(0);
}

Result<i64> waiting_rows(Database& database, const std::string& notifier) {
  TRY_ASSIGN(Statement select,
             database.prepare("SELECT count(*) FROM outbox WHERE notifier = ? AND is_told = 0"));
  TRY(select.bind(notifier).step());
  return select.integer(0);
}

Result<void> begin_attempt(Database& database, const OutboxRow& row, Ns now) {
  TRY_ASSIGN(Statement update,
             of_row(database,
                    "UPDATE outbox SET attempts = attempts + 1, in_doubt = in_doubt | 1, "
                    "first_attempt = CASE first_attempt WHEN 0 THEN ? ELSE first_attempt END"));
  return update.bind(now, row.incident, row.notifier, row.sequence).run();
}

Result<i64> put_off(Database& database, const OutboxRow& row, Ns next, bool in_doubt) {
  TRY_ASSIGN(Statement update, of_row(database, "UPDATE outbox SET next_attempt = ?"));
  TRY(update.bind(next, row.incident, row.notifier, row.sequence).run());
  TRY_ASSIGN(Statement doubt, database.prepare("UPDATE outbox SET in_doubt = ? | (in_doubt & ?) "
                                               "WHERE incident = ? AND notifier = ?"));
  TRY(doubt.bind(i64{in_doubt}, kElsewhere, row.incident, row.notifier).run());
  TRY_ASSIGN(const i64 told, told_sequence(database, row));
  if (in_doubt || told >= 0) return 0;
  TRY_ASSIGN(Statement last,
             database.prepare("DELETE FROM outbox WHERE incident = ? AND notifier = ? AND is_last = 1 "
                              "AND in_doubt = 0"));
  TRY(last.bind(row.incident, row.notifier).run());
  TRY_ASSIGN(const i64 gone, database.integer("SELECT changes()"));
  return 2 * gone;
}

Result<void> tick_off(Database& database, const OutboxRow& row, const std::string& kept, Ns again) {
  TRY_ASSIGN(Statement told,
             database.prepare("INSERT INTO told(incident, notifier, sequence, kept) VALUES(?, ?, ?, ?) "
                              "ON CONFLICT(incident, notifier) DO UPDATE SET kept = excluded.kept, "
                              "sequence = max(sequence, excluded.sequence)"));
  TRY(told.bind(row.incident, row.notifier, row.sequence, kept).run());
  if (again == 0) {
    TRY_ASSIGN(Statement remove, of_row(database, "DELETE FROM outbox"));
    return remove.bind(row.incident, row.notifier, row.sequence).run();
  }
  TRY_ASSIGN(Statement update, of_row(database,
                                      "UPDATE outbox SET attempts = 0, first_attempt = 0, next_attempt = ?, "
                                      "in_doubt = 0, is_told = 1"));
  return update.bind(again, row.incident, row.notifier, row.sequence).run();
}

Result<void> end_renewals(Database& database, const std::string& incident) {
  TRY_ASSIGN(Statement remove, database.prepare("DELETE FROM outbox WHERE incident = ? AND is_told = 1"));
  return remove.bind(incident).run();
}

Result<void> drop_row(Database& database, const OutboxRow& row) {
  TRY_ASSIGN(Statement remove, of_row(database, "DELETE FROM outbox"));
  return remove.bind(row.incident, row.notifier, row.sequence).run();
}

Result<i64> keep_notifiers(Database& database, const std::vector<std::string>& names) {
  std::vector<std::string> strangers;
  {
    TRY_ASSIGN(Statement select, database.prepare("SELECT DISTINCT notifier FROM outbox"));
    while (true) {
      TRY_ASSIGN(const bool is_there, select.step());
      if (!is_there) break;
      std::string name(select.text(0));
      if (std::ranges::find(names, name) == names.end()) strangers.push_back(std::move(name));
    }
  }
  i64 dropped = 0;
  for (const std::string& name : strangers) {
    TRY_ASSIGN(const i64 waiting, waiting_rows(database, name));
    TRY_ASSIGN(Statement remove, database.prepare("DELETE FROM outbox WHERE notifier = ?"));
    TRY(remove.bind(name).run());
    dropped += waiting;
  }
  return dropped;
}

}  // namespace spotter::store
