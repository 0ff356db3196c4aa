#include "store/silences.h"

namespace spotter::store {

Result<i64> add_silence(Database& database, const Silence& s) {
  TRY_ASSIGN(Statement insert, database.prepare("INSERT INTO silences(rule, job, host, user, made, until, "
                                                "reason, made_by) VALUES(?, ?, ?, ?, ?, ?, ?, ?)"));
  TRY(insert.bind(s.rule, s.job, s.host, s.user, s.made, s.until, s.reason, s.by).run());
  return database.last_id();
}

Result<bool> end_silence(Database& database, i64 id, Ns now) {
  TRY_ASSIGN(Statement lasts, database.prepare("SELECT 1 FROM silences WHERE id = ? AND until > ?"));
  TRY_ASSIGN(const bool is_there, lasts.bind(id, now).step());
  lasts.reset();
  if (!is_there) return false;
  TRY_ASSIGN(Statement update, database.prepare("UPDATE silences SET until = ? WHERE id = ?"));
  TRY(update.bind(now, id).run());
  return true;
}

Result<std::vector<Silence>> lasting_silences(Database& database, Ns now) {
  TRY_ASSIGN(Statement select, database.prepare("SELECT id, rule, job, host, user, made, until, reason, "
                                                "made_by FROM silences WHERE until > ? ORDER BY id"));
  select.bind(now);
  std::vector<Silence> silences;
  while (true) {
    TRY_ASSIGN(const bool is_there, select.step());
    if (!is_there) return silences;
    const auto text = [&](int column) { return std::string(select.text(column)); };
    silences.push_back({.id = select.integer(0),
                        .rule = text(1),
                        .job = text(2),
                        .host = text(3),
                        .user = text(4),
                        .made = select.integer(5),
                        .until = select.integer(6),
                        .reason = text(7),
                        .by = text(8)});
  }
}

}  // namespace spotter::store
