// The outbox's rows in the file of incidents (incident_store.h): what a notifier has still to be told, one
// row per incident and notifier: a newer word takes an older one's place. And what each notifier was told
// last, with what it wants to know again.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "store/database.h"

namespace spotter::store {

struct OutboxRow {
  std::string incident = {}, notifier = {};
  i64 sequence = 0;  // of the incident's words: grows
  std::string occasion = {};
  bool is_last = false;    // the incident is over with it
  bool is_urgent = false;  // goes before the others
  std::string text = {};   // of the incident, as it was then
  Ns put = 0;
  i64 attempts = 0;
  Ns first_attempt = 0, next_attempt = 0;  // Unix time; 0: none yet, at once
  // Its notifier may have heard of the incident: an attempt was begun, an answer was lost, or another host
  // told it.
  bool in_doubt = false;
  bool is_told = false;   // it has arrived, and is told again at next_attempt
  std::string kept = {};  // of its notifier and incident
};

// Each in the caller's transaction. A word that was told already, or is older than the one that waits, is
// left out. The last word of an incident that its notifier never heard of is left out with what it overtakes,
// unless that may have arrived. How many words were overtaken.
Result<i64> put_row(Database& database, const OutboxRow& row);
// Those that are due, urgent ones first, `most` at most. What is due in more than ten minutes is due now:
// nobody puts a word off so long, but the clock was wrong.
Result<std::vector<OutboxRow>> due_rows(Database& database, const std::string& notifier, Ns now, i64 most);
Result<std::optional<Ns>> next_due(Database& database, const std::string& notifier);  // nothing: none waits
Result<i64> waiting_rows(Database& database, const std::string& notifier);  // without those that were told

// An attempt begins: whoever is killed from here on leaves it in doubt.
Result<void> begin_attempt(Database& database, const OutboxRow& row, Ns now);
// It has not arrived. A newer word that has taken its place meanwhile inherits the doubt; the last one of an
// incident that its notifier never heard of goes as in put_row(). How many words were overtaken.
Result<i64> put_off(Database& database, const OutboxRow& row, Ns next, bool in_doubt);
// It has arrived; again: when it is to be told again, 0: never.
Result<void> tick_off(Database& database, const OutboxRow& row, const std::string& kept, Ns again);
// What was told is told no more: its incident is over, and nobody is to hear that.
Result<void> end_renewals(Database& database, const std::string& incident);
Result<void> drop_row(Database& database, const OutboxRow& row);
// Drops what waits for others than these. How many words.
Result<i64> keep_notifiers(Database& database, const std::vector<std::string>& names);

}  // namespace spotter::store
