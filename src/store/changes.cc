#include "store/changes.h"

namespace spotter::store {
namespace {

constexpr Ns kSameTime = 5 * kSecond;  // the start of a process, by clocks that were read twice

template <class... A>
Result<void> run(Database& database, const char* text, const A&... values) {
  TRY_ASSIGN(Statement statement, database.prepare(text));
  return statement.bind(values...).run();
}

}  // namespace

Result<bool> add_change(Database& database, const StoredChange& c, Ns now) {
  TRY_ASSIGN(Statement same,
             database.prepare("SELECT 1 FROM changes WHERE at BETWEEN ? AND ? AND kind = ? AND what = ? AND "
                              "before = ? AND after = ? AND made_by = ? AND job = ? AND hosts = ?"));
  TRY_ASSIGN(const bool is_known, same.bind(c.at - kSameTime, c.at + kSameTime, c.kind, c.what, c.before,
                                            c.after, c.by, c.job, c.hosts)
                                      .step());
  same.reset();
  if (is_known) return false;
  TRY(run(database,
          "INSERT INTO changes(at, put, kind, what, before, after, made_by, link, job, hosts) "
          "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          c.at, now, c.kind, c.what, c.before, c.after, c.by, c.link, c.job, c.hosts));
  return true;
}

Result<std::vector<StoredChange>> all_changes(Database& database) {
  TRY_ASSIGN(Statement select, database.prepare("SELECT at, kind, what, before, after, made_by, link, job, "
                                                "hosts FROM changes ORDER BY at, id"));
  std::vector<StoredChange> all;
  while (true) {
    TRY_ASSIGN(const bool is_there, select.step());
    if (!is_there) return all;
    const auto text = [&](int column) { return std::string(select.text(column)); };
    all.push_back({.at = select.integer(0),
                   .kind = text(1),
                   .what = text(2),
                   .before = text(3),
                   .after = text(4),
                   .by = text(5),
                   .link = text(6),
                   .job = text(7),
                   .hosts = text(8)});
  }
}

Result<void> keep_facts(Database& database, const std::string& of, const KnownFacts& facts, Ns now) {
  TRY(run(database, "DELETE FROM facts WHERE of = ?", of));
  for (const auto& [name, fact] : facts)
    TRY(run(database, "INSERT INTO facts(of, name, value, since, used) VALUES(?, ?, ?, ?, ?)", of, name,
            fact.value, fact.since, now));
  return {};
}

Result<KnownFacts> facts_of(Database& database, const std::string& of) {
  TRY_ASSIGN(Statement select, database.prepare("SELECT name, value, since FROM facts WHERE of = ?"));
  select.bind(of);
  KnownFacts facts;
  while (true) {
    TRY_ASSIGN(const bool is_there, select.step());
    if (!is_there) return facts;
    facts[std::string(select.text(0))] = {std::string(select.text(1)), select.integer(2)};
  }
}

Result<void> trim_changes(Database& database, Ns now, const ChangeLimits& limits) {
  TRY(run(database, "DELETE FROM changes WHERE at < ?", now - limits.kept));
  TRY(run(database,
          "DELETE FROM changes WHERE id IN (SELECT id FROM changes ORDER BY at DESC LIMIT -1 OFFSET ?)",
          limits.most));
  return run(database,
             "DELETE FROM facts WHERE (of, name) IN (SELECT of, name FROM facts ORDER BY used DESC LIMIT -1 "
             "OFFSET ?)",
             limits.most_facts);
}

}  // namespace spotter::store
