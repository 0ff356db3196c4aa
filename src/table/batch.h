// Batch: the tables of one look at the machine. Made once, then shared by all who take it: read only, any
// thread.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "table/table.h"

namespace spotter {

struct Batch {
  Ns unix_ns = 0;    // when it was looked
  Ns period_ns = 0;  // until the next look at the same things
  std::vector<Table> tables = {};
  std::string by = {};  // who looked; who looks at the same things has the same name, and nobody else
};
using SharedBatch = std::shared_ptr<const Batch>;

// Whether it is too old to be true of now: five looks are overdue, so its collector hangs, has gone, or has
// nothing more to tell of. One without a period never is.
inline bool is_stale(const Batch& batch, Ns unix_now) {
  constexpr Ns kMostPeriods = 5;
  return batch.period_ns > 0 && (unix_now - batch.unix_ns) / kMostPeriods > batch.period_ns;
}

// How a sink fares, which is who takes batches; the history is one, too.
struct SinkState {
  std::string name = {};
  i64 queued = 0;     // batches that wait
  i64 delivered = 0;  // batches that arrived where they were to go
  i64 dropped = 0;    // batches that had to go for newer ones, or could not be delivered
  i64 failures = 0;   // attempts that failed
  i64 rejected = 0;   // values of delivered batches that the other side would not have, or could not keep
  std::string last_error = {};  // empty: the last attempt did not fail
};

// How a notifier fares, which is who is told of incidents.
struct NotifierCounts {
  std::string name = {};
  i64 sent = 0, failed = 0, dropped = 0, waiting = 0;
};

// How captures that were wanted for incidents went, and how many did so.
struct CaptureCount {
  std::string_view result = {};
  i64 captures = 0;
};

// How many incidents of a kind are open.
struct IncidentCount {
  std::string_view state = {}, severity = {};
  i64 incidents = 0;
};

}  // namespace spotter
