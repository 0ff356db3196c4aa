#include "store/incident_rows.h"

namespace spotter::store {
namespace {

constexpr const char* kColumns = "SELECT id, key, n, state, opened, updated, closed, text FROM incidents ";

Result<std::vector<StoredIncident>> read(Statement& select) {
  std::vector<StoredIncident> incidents;
  while (true) {
    TRY_ASSIGN(const bool is_there, select.step());
    if (!is_there) return incidents;
    incidents.push_back({.id = std::string(select.text(0)),
                         .key = std::string(select.text(1)),
                         .n = select.integer(2),
                         .state = std::string(select.text(3)),
                         .opened = select.integer(4),
                         .updated = select.integer(5),
                         .closed = select.integer(6),
                         .text = std::string(select.text(7))});
  }
}

Result<void> run(Database& database, const char* sql, i64 value) {
  TRY_ASSIGN(Statement statement, database.prepare(sql));
  return statement.bind(value).run();
}

// Nobody would end the renewals of an incident that is forgotten. A word that still waits needs what its
// notifier wants to know again.
Result<void> remove_orphans(Database& database) {
  return database.run(
      "DELETE FROM outbox WHERE is_told = 1 AND incident NOT IN (SELECT id FROM incidents);"
      "DELETE FROM transitions WHERE incident NOT IN (SELECT id FROM incidents);"
      "DELETE FROM told WHERE incident NOT IN (SELECT id FROM incidents) "
      "AND incident NOT IN (SELECT incident FROM outbox)");
}

}  // namespace

Result<void> put_incident(Database& database, const StoredIncident& i) {
  TRY_ASSIGN(Statement put,
             database.prepare("INSERT OR REPLACE INTO incidents(id, key, n, state, opened, updated, closed, "
                              "text) VALUES(?, ?, ?, ?, ?, ?, ?, ?)"));
  TRY(put.bind(i.id, i.key, i.n, i.state, i.opened, i.updated, i.closed, i.text).run());
  TRY_ASSIGN(Statement key,
             database.prepare("INSERT INTO keys(key, n, used) VALUES(?, ?, ?) ON CONFLICT(key) "
                              "DO UPDATE SET n = max(n, excluded.n), used = excluded.used"));
  return key.bind(i.key, i.n, i.updated).run();
}

Result<void> add_transition(Database& database, const std::string& incident, const Transition& t, i64 most) {
  TRY_ASSIGN(Statement insert, database.prepare("INSERT INTO transitions(incident, at, from_state, to_state, "
                                                "why) VALUES(?, ?, ?, ?, ?)"));
  TRY(insert.bind(incident, t.at, t.from, t.to, t.why).run());
  TRY_ASSIGN(Statement trim,
             database.prepare("DELETE FROM transitions WHERE incident = ?1 AND id <= (SELECT id FROM "
                              "transitions WHERE incident = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)"));
  return trim.bind(incident, most).run();
}

Result<std::vector<StoredIncident>> newest_incidents(Database& database, i64 most) {
  TRY_ASSIGN(Statement select, database.prepare(std::string(kColumns) + "ORDER BY opened DESC, id LIMIT ?"));
  return read(select.bind(most));
}

Result<std::vector<StoredIncident>> open_incidents(Database& database) {
  TRY_ASSIGN(Statement select,
             database.prepare(std::string(kColumns) + "WHERE closed = 0 ORDER BY opened DESC, id"));
  return read(select);
}

Result<std::optional<StoredIncident>> find_incident(Database& database, const std::string& id) {
  TRY_ASSIGN(Statement select, database.prepare(std::string(kColumns) + "WHERE id = ?"));
  TRY_ASSIGN(std::vector<StoredIncident> found, read(select.bind(id)));
  if (found.empty()) return std::nullopt;
  return std::move(found[0]);
}

Result<std::vector<Transition>> transitions_of(Database& database, const std::string& id) {
  TRY_ASSIGN(Statement select, database.prepare("SELECT at, from_state, to_state, why FROM transitions "
                                                "WHERE incident = ? ORDER BY id"));
  select.bind(id);
  std::vector<Transition> all;
  while (true) {
    TRY_ASSIGN(const bool is_there, select.step());
    if (!is_there) return all;
    all.push_back({select.integer(0), std::string(select.text(1)), std::string(select.text(2)),
                   std::string(select.text(3))});
  }
}

Result<std::vector<std::pair<std::string, i64>>> all_keys(Database& database) {
  TRY_ASSIGN(Statement select, database.prepare("SELECT key, n FROM keys"));
  std::vector<std::pair<std::string, i64>> all;
  while (true) {
    TRY_ASSIGN(const bool is_there, select.step());
    if (!is_there) return all;
    all.emplace_back(select.text(0), select.integer(1));
  }
}

Result<void> trim_incidents(Database& database, Ns now, const IncidentLimits& limits) {
  TRY(run(database, "DELETE FROM incidents WHERE closed > 0 AND closed < ?", now - limits.kept));
  TRY(run(database,
          "DELETE FROM incidents WHERE id IN (SELECT id FROM incidents ORDER BY closed = 0 DESC, "
          "max(closed, updated) DESC LIMIT -1 OFFSET ?)",
          limits.most));
  TRY(run(database, "DELETE FROM silences WHERE until < ?", now - limits.kept));
  TRY(run(database, "DELETE FROM keys WHERE used < ?", now - limits.key_kept));
  TRY(run(database,
          "DELETE FROM keys WHERE key IN (SELECT key FROM keys ORDER BY used DESC LIMIT -1 OFFSET ?)",
          limits.most_keys));
  return remove_orphans(database);
}

Result<void> remove_oldest(Database& database, i64 count) {
  TRY(run(database,
          "DELETE FROM incidents WHERE id IN (SELECT id FROM incidents ORDER BY closed = 0, "
          "max(closed, updated) LIMIT ?)",
          count));
  return remove_orphans(database);
}

}  // namespace spotter::store
