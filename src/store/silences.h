// Silences in the file of incidents (incident_store.h): of whom nobody is told for a while, who said so and
// why.
#pragma once
#include <string>
#include <vector>

#include "base/time.h"
#include "store/database.h"

namespace spotter::store {

struct Silence {
  i64 id = 0;                                             // given by the store, from 1 on
  std::string rule = {}, job = {}, host = {}, user = {};  // what it is of; empty: any
  Ns made = 0, until = 0;                                 // Unix time
  std::string reason = {}, by = {};
};

// Each in the caller's transaction.
Result<i64> add_silence(Database& database, const Silence& silence);  // its id; `id` is not read
Result<bool> end_silence(Database& database, i64 id, Ns now);         // false: there is none that lasts
Result<std::vector<Silence>> lasting_silences(Database& database, Ns now);

}  // namespace spotter::store
