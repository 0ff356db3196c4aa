// What was made otherwise, and what is known of hosts and jobs so that a change is seen, in the file of
// incidents (incident_store.h).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "store/database.h"

namespace spotter::store {

struct StoredChange {
  Ns at = 0;
  std::string kind = {}, what = {}, before = {}, after = {}, by = {}, link = {}, job = {};
  std::string hosts = {};  // each on a line
};

struct KnownFact {
  std::string value = {};
  Ns since = 0;
};
using KnownFacts = std::map<std::string, KnownFact>;

struct ChangeLimits {
  i64 most = 2'000;
  Ns kept = 30 * kDay;
  i64 most_facts = 20'000;  // those that were not looked at for the longest go first
};

// Each in the caller's transaction.
//
// False: it is there already: nearly the same time, and all else the same.
Result<bool> add_change(Database& database, const StoredChange& change, Ns now);
Result<std::vector<StoredChange>> all_changes(Database& database);  // the oldest first
// In the place of what was known of it: `of` is a host, or a series of jobs.
Result<void> keep_facts(Database& database, const std::string& of, const KnownFacts& facts, Ns now);
Result<KnownFacts> facts_of(Database& database, const std::string& of);
Result<void> trim_changes(Database& database, Ns now, const ChangeLimits& limits);

}  // namespace spotter::store
