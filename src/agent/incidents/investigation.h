// Investigation: a capture of a job for an incident, what stands out in its traces, and what was measured of
// its ranks: `spotter investigate`, a process of its own, which asks this agent as a person would. The loop's
// thread.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/notes.h"
#include "base/result.h"
#include "net/child.h"
#include "net/loop.h"
#include "respond/budget.h"
#include "table/table.h"

namespace spotter::agent {

struct InvestigationOrder {
  std::string program, socket;
  std::string job;
  std::vector<i64> ranks = {};          // empty: all of the job
  std::vector<i64> pids = {};           // of it, on this host; empty: whatever its ranks are
  std::vector<std::string> hosts = {};  // whose agents are asked, with these credentials; empty: this one
  std::string credentials = {};
  respond::CapturePlan plan = {};
  i64 start_unix_ms = 0;  // when all begin to record
  bool wants_report = false;
  bool only_measured = false;  // nothing is traced: no receipts
  Ns slow_since = 0;  // Unix time: what was measured since then is compared with before; 0: not known
};

struct Investigated {
  Table receipts;
  std::optional<Table> findings;  // nothing: no trace could be read
  std::optional<Table> measured;  // respond/measured/measured.h
  std::optional<Table> changes;   // of other hosts (wire/change.h)
  i64 steps = 0;                  // that were recorded; 0: none, or not known
  Notes notes;
  std::string report = {};  // HTML; empty: none was made, and `why_no_report`
  std::string why_no_report = {};
};

class Investigation {
 public:
  // `done` may destroy it. Errors: io.
  static Result<std::unique_ptr<Investigation>> start(net::Loop& loop, const InvestigationOrder& order,
                                                      std::function<void(Result<Investigated>)> done);

 private:
  std::unique_ptr<net::Child> child_;
};

}  // namespace spotter::agent
