// What somebody wants to know of the samples, as parameters of GET /v1/metrics.
//
//   metric=PATTERN,...   names of metrics (table/selection.h); default: all
//   since_ms=N           of the last N ms, from the history; without it the newest samples alone
//   until_ms=N           until N ms ago (default 0)
//   step_ms=N            at most one sample in N ms; default: as fine as is kept so far back
//   job=ID               rows of this job alone
//   rates=1              counters as what they grow by a second (table/rates.h)
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "table/selection.h"
#include "wire/target.h"

namespace spotter::wire {

struct MetricsQuery {
  table::Selection selection = {};
  Ns since = 0, until = 0;  // how long ago; 0 and 0: the newest samples
  Ns step = 0;
  bool rates = false;
};

// Errors: invalid, also for a parameter that there is none of.
Result<MetricsQuery> read_metrics_query(const Target& target);
std::string target_of(const MetricsQuery& query);

}  // namespace spotter::wire
