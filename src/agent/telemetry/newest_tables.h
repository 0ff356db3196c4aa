// The newest samples as the answer to a question.
#pragma once
#include <span>
#include <vector>

#include "table/batch.h"
#include "wire/metrics_query.h"

namespace spotter::agent {

// Of the newest batches that are not stale: each table once, without what the query does not want. A column
// time_ns stands before its own; not in a table of events, which has its own times.
std::vector<Table> newest_tables(std::span<const SharedBatch> latest, Ns unix_now,
                                 const wire::MetricsQuery& query);

}  // namespace spotter::agent
